import type { Expression } from '../expressions/expression.ts';
import { ExpressionError } from '../expressions/expression-error.ts';
import { parseValue } from '../expressions/sql/sql.ts';
import type { Source } from '../sources/source.ts';
import { getAggregation } from './aggregations.ts';
import type { SeriesQuery } from './queries/series-query.ts';

/** Units of values, by their UCUM codes as in OpenTelemetry: durations and bytes. */
export const UNITS = ['ns', 'us', 'ms', 's', 'By'] as const;
export type Unit = (typeof UNITS)[number];

export const findUnit = (code: string): Unit | undefined => UNITS.find((unit) => unit === code);

const SECONDS: readonly [Unit, number][] = [
  ['s', 1],
  ['ms', 1e-3],
  ['us', 1e-6],
  ['ns', 1e-9],
];

/**
 * The unit of a series of events: that of the source's duration if the field is the duration, or the duration multiplied or
 * divided by a number. `Duration / 1000000` of a duration in nanoseconds is in milliseconds.
 */
export function findEventUnit({ aggFn, field, table }: SeriesQuery, source: Source): Unit | undefined {
  const { durationExpression, durationPrecision = 9 } = source;
  if (durationExpression === undefined || field === undefined || !getAggregation(aggFn).keepsUnit) return undefined;
  const factor = findFactor(parseField(field, table.columns), durationExpression);
  if (factor === undefined) return undefined;
  // A value of 1 is this many seconds.
  const seconds = 10 ** -durationPrecision / factor;
  return SECONDS.find(([, length]) => Math.abs(seconds / length - 1) < 1e-9)?.[0];
}

/** Undefined for an invalid expression, which the planner reports. */
function parseField(text: string, columns: SeriesQuery['table']['columns']): Expression | undefined {
  try {
    return parseValue(text, { columns });
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

/** By how much the expression multiplies the column. Undefined if it is anything else. */
function findFactor(expression: Expression | undefined, column: string): number | undefined {
  if (expression?.node === 'column') return expression.name === column ? 1 : undefined;
  if (expression?.node !== 'arithmetic') return undefined;
  const { operator, left, right } = expression;
  const [by, of] = right.node === 'literal' ? [right.value, left] : left.node === 'literal' ? [left.value, right] : [];
  const factor = typeof by === 'number' || typeof by === 'bigint' ? findFactor(of, column) : undefined;
  if (factor === undefined || Number(by) <= 0) return undefined;
  if (operator === '*') return factor * Number(by);
  return operator === '/' && of === left ? factor / Number(by) : undefined;
}
