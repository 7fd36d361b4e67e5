import { type Expression, textLiteral } from './expression.ts';
import { isIn } from './operators.ts';
import type { Scope } from './scope.ts';
import { parseValue } from './sql/sql.ts';

/** The condition that a field has one of the values. Only the field is parsed; numbers and times are converted to the kind of the field. */
export function parseChoice(field: string, values: readonly string[], scope: Scope): Expression {
  return isIn(
    { value: parseValue(field, scope), at: 0 },
    values.map((value) => ({ value: textLiteral(value), at: 0 })),
  );
}
