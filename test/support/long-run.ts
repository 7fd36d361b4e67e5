/** Rounds of repeated faults; set by `npm run faults`. */
const given = process.env.PILOTHOUSE_TEST_ROUNDS;

/** Otherwise some tests run in a short form: cases that differ little between the stores run on one of them. */
export const isLongRun = given !== undefined;

export const ROUNDS = Number(given ?? 2);
export const SEED = Number(process.env.PILOTHOUSE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** `npm run test:clients` also runs the tests that download third-party clients. */
export const isClientRun = process.env.PILOTHOUSE_TEST_CLIENTS !== undefined;
