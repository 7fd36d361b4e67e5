import type { Violation } from '../../../kernel/errors.ts';
import type { TelemetryRule } from '../../../management/organizations/organization.ts';
import { DEFAULT_RULE } from '../../../management/organizations/schema.ts';
import { ExpressionError, pointAt } from '../../expressions/expression-error.ts';
import { compileCondition } from './apply-rules.ts';
import { RowReader } from './row-reader.ts';

/** The rule as it is stored and returned, with its defaults. */
export function normalizeRule(
  body: Omit<TelemetryRule, keyof typeof DEFAULT_RULE> & Partial<TelemetryRule>,
): TelemetryRule {
  const { name, signal, action, keepPercent } = body;
  const { where, whereLanguage, enabled } = { ...DEFAULT_RULE, ...body };
  return { name, signal, where, whereLanguage, action, ...(keepPercent !== undefined && { keepPercent }), enabled };
}

/** `member` is the path of the list. */
export const listRuleViolations = (rules: readonly TelemetryRule[], member: string): Violation[] =>
  rules.flatMap((rule, index) =>
    [...listOwnViolations(rule), ...listNameViolations(rules, index)].map((violation) => ({
      ...violation,
      path: `${member}[${index}].${violation.path}`,
    })),
  );

const listNameViolations = (rules: readonly TelemetryRule[], index: number): Violation[] => {
  const name = rules[index]?.name ?? '';
  if (name.trim() === '') return [{ path: 'name', rule: 'The value must not be blank', value: name }];
  return rules.findIndex((rule) => rule.name === name) < index
    ? [{ path: 'name', rule: 'Another rule has this name', value: name }]
    : [];
};

function listOwnViolations(rule: TelemetryRule): Violation[] {
  const { action, keepPercent, where } = rule;
  const violations: Violation[] = [];
  if (action === 'sample' && keepPercent === undefined)
    violations.push({
      path: 'keepPercent',
      rule: 'A rule that samples needs the percentage that is kept',
      value: keepPercent,
    });
  if (action === 'drop' && keepPercent !== undefined)
    violations.push({ path: 'keepPercent', rule: 'Only rules that sample have it', value: keepPercent });
  try {
    compileCondition(rule, new RowReader(rule.signal));
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    violations.push({ path: 'where', rule: `${error.message} (${pointAt(where, error)})`, value: where });
  }
  return violations;
}
