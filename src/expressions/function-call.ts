import { call, type Expression } from './expression.ts';
import { ExpressionError } from './expression-error.ts';
import { timezone } from './function-rules.ts';
import { type FunctionRules, findFunction } from './functions.ts';
import type { Placed } from './operators.ts';
import { unknownFunction } from './refusals.ts';
import { quoted } from './scope.ts';

/** The call of an allowed function, its operands checked and made to fit. */
export function buildCall(name: string, operands: readonly Placed[], at: number): Expression {
  const rules = findFunction(name);
  if (!rules) throw unknownFunction(name, at);
  const places = operands.map((operand, index) => fitted(rules, operand, index));
  if (operands.length < rules.takes.length) throw wrongCount(rules, at);
  refuseZoneOfDay(rules, places);
  if (typeof rules.gives === 'function') return rules.gives(places, rules.name);
  return call(
    rules.name,
    places.map(({ value }) => value),
    rules.gives,
  );
}

function fitted(rules: FunctionRules, { value, at }: Placed, index: number): Placed {
  const { takes, optional, more } = rules;
  const rule = takes[index] ?? optional[index - takes.length] ?? more;
  if (!rule) throw wrongCount(rules, at);
  const taken = rule.take(value);
  if (!taken) throw new ExpressionError(`${rules.name} wants ${rule.wants} here`, at);
  return { value: taken, at };
}

/** The engine knows no time zones for dates. */
function refuseZoneOfDay({ takes, optional, name }: FunctionRules, places: readonly Placed[]): void {
  const zone = places.findIndex((_, index) => optional[index - takes.length] === timezone);
  const hasDay = places.some(({ value }) => value.type.isDay);
  if (zone >= 0 && hasDay) throw new ExpressionError(`${name} of a date has no time zone`, places[zone]?.at ?? 0);
}

function wrongCount({ name, takes, optional, more }: FunctionRules, at: number): ExpressionError {
  const most = takes.length + optional.length;
  const count = more ? `at least ${takes.length}` : optional.length ? `${takes.length} to ${most}` : `${most}`;
  return new ExpressionError(`${quoted(name)} takes ${count} value${count === '1' ? '' : 's'}`, at);
}
