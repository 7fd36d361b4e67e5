import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Violation } from '../errors.ts';
import { dropNulls } from '../json/nulls.ts';
import { listViolations } from './violations.ts';

/** A file reports all of its violations at once. */
const MAX_VIOLATIONS = 10_000;

/** Lists the schema violations of a value, with `prefix` in front of the paths. Removes optional members that are `null`. */
export function createSchemaCheck(
  schema: TSchema,
  maxViolations = MAX_VIOLATIONS,
): (value: unknown, prefix: string) => Violation[] {
  const validator = Compile(schema);
  return (value, prefix) => {
    dropNulls(schema, value);
    return validator.Check(value) ? [] : listViolations(schema, value, prefix, maxViolations);
  };
}
