import { call, type Expression } from './expression.ts';
import { ExpressionError } from './expression-error.ts';
import { timezone } from './function-rules.ts';
import { type FunctionSignature, findFunction } from './functions.ts';
import type { Positioned } from './operators.ts';
import { quoted } from './scope.ts';
import { unknownFunction } from './syntax-errors.ts';

/** Builds a call of an allowed function after checking and converting its operands. */
export function buildCall(name: string, operands: readonly Positioned[], at: number): Expression {
  const rules = findFunction(name);
  if (!rules) throw unknownFunction(name, at);
  const places = operands.map((operand, index) => fitOperand(rules, operand, index));
  if (operands.length < rules.required.length) throw wrongCount(rules, at);
  rejectTimeZoneOfDate(rules, places);
  if (typeof rules.result === 'function') return rules.result(places, rules.name);
  return call(
    rules.name,
    places.map(({ value }) => value),
    rules.result,
  );
}

function fitOperand(rules: FunctionSignature, { value, at }: Positioned, index: number): Positioned {
  const { required: takes, optional, repeated: more } = rules;
  const rule = takes[index] ?? optional[index - takes.length] ?? more;
  if (!rule) throw wrongCount(rules, at);
  const taken = rule.accept(value);
  if (!taken) throw new ExpressionError(`${rules.name} expects ${rule.expects} here`, at);
  return { value: taken, at };
}

/** ClickHouse has no time zones for dates. */
function rejectTimeZoneOfDate(
  { required: takes, optional, name }: FunctionSignature,
  places: readonly Positioned[],
): void {
  const zone = places.findIndex((_, index) => optional[index - takes.length] === timezone);
  const hasDay = places.some(({ value }) => value.type.isDay);
  if (zone >= 0 && hasDay) throw new ExpressionError(`${name} of a date has no time zone`, places[zone]?.at ?? 0);
}

function wrongCount(
  { name, required: takes, optional, repeated: more }: FunctionSignature,
  at: number,
): ExpressionError {
  const most = takes.length + optional.length;
  const count = more ? `at least ${takes.length}` : optional.length ? `${takes.length} to ${most}` : `${most}`;
  return new ExpressionError(`${quoted(name)} takes ${count} value${count === '1' ? '' : 's'}`, at);
}
