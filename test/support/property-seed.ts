import fc from 'fast-check';

/** Every run repeats the same cases on every machine; only `npm run faults` chooses a seed and prints it. */
const DEFAULT_SEED = 21;

fc.configureGlobal({ seed: Number(process.env.PILOTHOUSE_TEST_SEED ?? DEFAULT_SEED) });
