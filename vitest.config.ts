import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { isClientRun } from './test/support/long-run.ts';

/** Run by `npm run test:clients` and `test:packages` only: they download the clients or linters first. */
const DOWNLOADED_CLIENTS = 'test/*/downloaded/**';

/**
 * Run by `npm run test:system`: tests with browsers, servers or ClickHouse in processes of their own, faults, and thousands
 * of hostile requests. They need more than half of the processor time of all tests.
 */
const SYSTEM_TESTS = [
  'clients',
  'console',
  'docs',
  'faults',
  'hostile',
  'packages',
  'processes',
  'services',
  'workers',
].map((folder) => `test/${folder}/**/*.test.ts`);

const exclude = [...configDefaults.exclude, ...(isClientRun ? [] : [DOWNLOADED_CLIENTS])];

export default defineConfig({
  test: {
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
    projects: [
      {
        extends: true,
        test: {
          name: 'main',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...exclude, ...SYSTEM_TESTS],
        },
      },
      { extends: true, test: { name: 'system', include: SYSTEM_TESTS, exclude } },
    ],
  },
});
