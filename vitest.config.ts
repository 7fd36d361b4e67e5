import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { isClientRun } from './test/support/long-run.ts';

/** Run by `npm run test:clients` and `test:packages` only: they download the clients or linters first. */
const DOWNLOADED_CLIENTS = 'test/*/downloaded/**';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(isClientRun ? [] : [DOWNLOADED_CLIENTS])],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/property-seed.ts'],
    pool: 'forks',
    // Tests wait for a browser, a process or a store half of the time.
    maxWorkers: 2 * availableParallelism(),
    // Test files share the modules of a worker: importing them for every file takes longer than many tests.
    isolate: false,
    // A test that takes 2 s on an idle machine takes up to 30 s beside six busy loops on two cores. Tests that start
    // processes, browsers or engines say how much longer they may take.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
