import Type from 'typebox';

const rules = new Map<string, string>();

/** A string that must match a pattern. The OpenAPI document shows the pattern; error messages show the rule, a sentence. */
export function PatternText(pattern: RegExp, rule: string, description: string) {
  rules.set(pattern.source, rule);
  return Type.String({ pattern: pattern.source, description });
}

export const findPatternRule = (pattern: string): string | undefined => rules.get(pattern);
