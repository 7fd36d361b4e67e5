import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExpressionRows, openExpressionRows, SCOPE } from '../../test/support/expression-rows.ts';
import { HOSTILE_EXPRESSIONS, type HostileExpression } from '../../test/support/hostile-expressions.ts';
import type { Expression } from './expression.ts';
import { ExpressionError, pointAt } from './expression-error.ts';
import { functionNames } from './functions.ts';
import { parseLucene } from './lucene.ts';
import { parseCondition, parseValue } from './sql.ts';
import { createWriter } from './writer.ts';

function parse({ language, text }: HostileExpression): Expression | undefined {
  if (language === 'lucene') return parseLucene(text, SCOPE);
  return language === 'sql' ? parseCondition(text, SCOPE) : parseValue(text, SCOPE);
}

const WORDS = new Set(['AND', 'OR', 'NOT', 'LIKE', 'ILIKE', 'IN', 'BETWEEN', 'NULL', 'true', 'false', '_item']);
const CALLS = new Set([...functionNames(), 'arrayExists', 'toFloat64OrNull']);
const COLUMNS = new Set(SCOPE.columns.map(({ name }) => name).filter((name) => name !== 'OrganizationId'));

/** What is left of written SQL that is neither a known column, a bound value, an allowed function nor an operator. */
function strangeParts(sql: string): string[] {
  const names = [...sql.matchAll(/`([^`]*)`/g)].map(([, name = '']) => name).filter((name) => !COLUMNS.has(name));
  const rest = sql.replace(/\{p\d+:[A-Za-z0-9]+(\([A-Za-z0-9]+(, 'UTC')?\))?\}/g, ' ').replace(/`[^`]*`/g, ' ');
  const calls = [...rest.matchAll(/([A-Za-z_0-9]+)\(/g)]
    .map(([, name = '']) => name)
    .filter((name) => !CALLS.has(name));
  const words = [...rest.matchAll(/([A-Za-z_0-9]+)(?!\w|\()/g)].map(([, word = '']) => word);
  const others = rest.replace(/[A-Za-z_0-9]+/g, '').match(/[^\s()[\],+*/%=<>!-]|--|\/\*|->(?! )/g) ?? [];
  return [...names, ...calls, ...words.filter((word) => !WORDS.has(word)), ...others];
}

describe('hostile expressions', () => {
  let rows: ExpressionRows;
  beforeAll(() => {
    rows = openExpressionRows();
  });
  afterAll(() => rows.close());

  it('are numerous and distinct', () => {
    const keys = HOSTILE_EXPRESSIONS.map(({ language, text }) => `${language} ${text}`);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.length).toBeGreaterThanOrEqual(170);
  });

  it.each(HOSTILE_EXPRESSIONS.filter(({ outcome }) => outcome === 'rejected'))('$language: rejects $name', (attempt) => {
    let refusal: unknown;
    try {
      parse(attempt);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(ExpressionError);
    if (!(refusal instanceof ExpressionError)) return;
    expect(refusal.position).toBeGreaterThanOrEqual(0);
    expect(refusal.position).toBeLessThanOrEqual(attempt.text.length);
    expect(refusal.message.length).toBeLessThan(200);
    expect(pointAt(attempt.text, refusal)).toMatch(/^at character \d+: ".{1,60}"$/u);
  });

  it.each(HOSTILE_EXPRESSIONS.filter(({ outcome }) => outcome === 'harmless'))(
    '$language: accepts $name without side effects',
    (attempt) => {
      const expression = parse(attempt);
      if (!expression) throw new Error('it is blank');
      const writer = createWriter();
      const sql = writer.write(expression);
      expect(strangeParts(sql)).toEqual([]);
      const isCondition = attempt.language === 'sql' || attempt.language === 'lucene';
      if (isCondition) for (const id of rows.matching(expression)) expect(id).toBeLessThan(100);
      else
        expect(JSON.stringify(rows.valueOf(writer.writeText(expression), writer.parameters))).not.toContain('theirs');
    },
  );
});
