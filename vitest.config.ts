import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Generous: the suite must pass on a machine under heavy load.
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
