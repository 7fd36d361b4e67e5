// npm run faults [-- --rounds 300 --seed 1]: the fault tests with many more rounds than in `npm run test:system`. A seed repeats the order of a run's faults.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: 'string', default: '300' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
  },
  allowPositionals: true,
});
for (const [name, value] of Object.entries(values))
  if (!/^\d{1,9}$/.test(value)) {
    console.error(`error: --${name} must be a whole number, not ${value}`);
    process.exit(2);
  }
const files = positionals.length > 0 ? positionals : listLongForms();
console.log(`rounds ${values.rounds}, seed ${values.seed}`);
const { status } = spawnSync('npx', ['vitest', 'run', ...files], {
  stdio: 'inherit',
  env: { ...process.env, PILOTHOUSE_TEST_ROUNDS: values.rounds, PILOTHOUSE_TEST_SEED: values.seed },
});
process.exit(status ?? 1);

/** The tests of faults, and all others that have a longer form. */
function listLongForms() {
  return ['src', 'test']
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
    .filter((path) => path.endsWith('.test.ts'))
    .filter((path) => path.startsWith('test/faults/') || /long-run\.ts|InLongRuns/.test(readFileSync(path, 'utf8')));
}
