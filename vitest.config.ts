import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { isClientRun, isLongRun } from './test/support/long-run.ts';

/** Run by `npm run faults` only: they take long and add little to the short tests of the same feature. */
const LONG_TESTS = ['test/cli/backup-clickhouse.test.ts'];
/** Run by `npm run test:clients` and `test:packages` only: they download the clients or linters first. */
const DOWNLOADED_CLIENTS = 'test/*/downloaded/**';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [
      ...configDefaults.exclude,
      ...(isLongRun ? [] : LONG_TESTS),
      ...(isClientRun ? [] : [DOWNLOADED_CLIENTS]),
    ],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // Tests wait for a browser, a process or a store half of the time.
    maxWorkers: 2 * availableParallelism(),
    // Test files share the modules of a worker: importing them for every file takes longer than many tests.
    isolate: false,
    // Generous: the suite must pass on a machine under heavy load.
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
