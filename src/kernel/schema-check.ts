import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import type { Violation } from './errors.ts';
import { dropNulls } from './nulls.ts';
import { toViolations } from './violations.ts';

/** Of a file a person wants to see everything at once. */
const MAX_VIOLATIONS = 10_000;

/** What is wrong with the shape of a value, with paths that begin with `prefix`; optional members that are `null` are dropped from it. */
export function createShapeCheck(
  schema: TSchema,
  maxViolations = MAX_VIOLATIONS,
): (value: unknown, prefix: string) => Violation[] {
  const validator = Compile(schema);
  return (value, prefix) => {
    dropNulls(schema, value);
    if (validator.Check(value)) return [];
    // Left alone, TypeBox stops after a handful; the bound is global and belongs to the HTTP edge, so it is put back.
    const { maxErrors } = Settings.Get();
    Settings.Set({ maxErrors: maxViolations });
    try {
      return toViolations(validator.Errors(value), value, prefix);
    } finally {
      Settings.Set({ maxErrors });
    }
  };
}
