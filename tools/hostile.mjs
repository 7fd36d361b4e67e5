// Runs the long form of test/hostile: npm run hostile -- [--seed N] [--requests N] [test file …]
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '12' }, requests: { type: 'string', default: '10000' } },
});
const files = positionals.length > 0 ? positionals : ['test/hostile'];
const { status } = spawnSync('npx', ['vitest', 'run', ...files], {
  stdio: 'inherit',
  env: { ...process.env, HOSTILE_SEED: values.seed, HOSTILE_REQUESTS: values.requests },
});
process.exit(status ?? 1);
