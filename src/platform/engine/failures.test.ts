import { expect, it } from 'vitest';
import { toEngineError } from './failures.ts';

const LIMITS = { maxSeconds: 30, maxResultRows: 100, maxResultBytes: 100, maxMemoryBytes: 100 };
const toCode = (message: string) => toEngineError(Object.assign(new Error(message), { code: '241' }), LIMITS).code;

it.each([
  '(total) memory limit exceeded: would use 70.74 MiB, current RSS: 616.53 MiB, maximum: 614.40 MiB.',
  'User memory limit exceeded: would use 1.10 GiB, maximum: 1.00 GiB.',
  'Memory limit (total) exceeded: would use 6.25 GiB, maximum: 6.25 GiB.',
  'Memory limit (for user) exceeded: would use 1.10 GiB, maximum: 1.00 GiB.',
])('a limit of several queries is not the fault of one: %s', (message) => {
  expect(toCode(message)).toBe('unavailable');
});

it.each([
  'Query memory limit exceeded: would use 372.04 MiB, maximum: 368.64 MiB.',
  'Memory limit (for query) exceeded: would use 372.04 MiB, maximum: 368.64 MiB.',
])('the limit of a query is: %s', (message) => {
  expect(toCode(message)).toBe('bad_request');
});
