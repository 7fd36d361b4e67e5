// npm run faults [-- --rounds 300 --seed 1]: the fault tests with many more rounds than in `npm test`. A seed repeats the order of a run's faults.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: 'string', default: '300' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
  allowPositionals: true,
});
for (const [name, value] of Object.entries(values))
  if (!/^\d{1,9}$/.test(value)) {
    console.error(`error: --${name} must be a whole number, not ${value}`);
    process.exit(2);
  }
const files =
  positionals.length > 0
    ? positionals
    : [
        'test/faults',
        'test/services/churn',
        'test/services/commands',
        'test/billing/exactness',
        'test/billing/metering',
        'test/cli/backup',
        'test/cli/move',
        'test/cli/merge',
        'test/api/dashboards-folder',
        'test/api/idempotency',
        'test/api/logs',
        'test/api/sessions',
        'test/api/setup',
        'test/api/stop',
        'test/workers',
      ];
console.log(`rounds ${values.rounds}, seed ${values.seed}`);
const { status } = spawnSync('npx', ['vitest', 'run', ...files], {
  stdio: 'inherit',
  env: { ...process.env, PILOTHOUSE_TEST_ROUNDS: values.rounds, PILOTHOUSE_TEST_SEED: values.seed },
});
process.exit(status ?? 1);
