import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import type { Violation } from './errors.ts';
import { dropNulls } from './nulls.ts';
import { toViolations } from './violations.ts';

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
    if (validator.Check(value)) return [];
    // TypeBox stops after a few errors by default. The limit is global and set by the HTTP layer, so it is restored.
    const { maxErrors } = Settings.Get();
    Settings.Set({ maxErrors: maxViolations });
    try {
      return toViolations(validator.Errors(value), value, prefix);
    } finally {
      Settings.Set({ maxErrors });
    }
  };
}
