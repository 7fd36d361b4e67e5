import { call, type Expression } from '../expression.ts';
import { ExpressionError } from '../expression-error.ts';
import type { Positioned } from '../operators.ts';
import { quoted } from '../scope.ts';
import { unknownFunction } from '../sql/syntax-errors.ts';
import { timezone } from './function-rules.ts';
import { type FunctionSignature, findFunction } from './functions.ts';

/** Builds a call of an allowed function after checking and converting its operands. */
export function buildCall(name: string, operands: readonly Positioned[], at: number): Expression {
  const rules = findFunction(name);
  if (!rules) throw unknownFunction(name, at);
  const checked = operands.map((operand, index) => fitOperand(rules, operand, index));
  if (operands.length < rules.required.length) throw wrongCount(rules, at);
  rejectTimeZoneOfDate(rules, checked);
  if (typeof rules.result === 'function') return rules.result(checked, rules.name);
  return call(
    rules.name,
    checked.map(({ value }) => value),
    rules.result,
  );
}

function fitOperand(rules: FunctionSignature, { value, at }: Positioned, index: number): Positioned {
  const { required, optional, repeated } = rules;
  const rule = required[index] ?? optional[index - required.length] ?? repeated;
  if (!rule) throw wrongCount(rules, at);
  const accepted = rule.accept(value);
  if (!accepted) throw new ExpressionError(`${rules.name} expects ${rule.expects} here`, at);
  return { value: accepted, at };
}

/** ClickHouse has no time zones for dates. */
function rejectTimeZoneOfDate({ required, optional, name }: FunctionSignature, checked: readonly Positioned[]): void {
  const zone = checked.findIndex((_, index) => optional[index - required.length] === timezone);
  const hasDay = checked.some(({ value }) => value.type.isDay);
  if (zone >= 0 && hasDay) throw new ExpressionError(`${name} of a date has no time zone`, checked[zone]?.at ?? 0);
}

function wrongCount({ name, required, optional, repeated }: FunctionSignature, at: number): ExpressionError {
  const [min, max] = [required.length, required.length + optional.length];
  const count = repeated ? `at least ${min}` : min < max ? `${min} to ${max}` : `${max}`;
  return new ExpressionError(`${quoted(name)} takes ${count} value${count === '1' ? '' : 's'}`, at);
}
