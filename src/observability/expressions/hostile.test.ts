import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOSTILE_EXPRESSIONS, type HostileExpression } from '../../../test/hostile/expressions.ts';
import { type ExpressionRows, openExpressionRows, SCOPE } from '../../../test/support/expression-rows.ts';
import type { Expression } from './expression.ts';
import { ExpressionError, pointAt } from './expression-error.ts';
import { functionNames } from './functions/functions.ts';
import { parseLucene } from './lucene/lucene.ts';
import { parseCondition, parseValue } from './sql/sql.ts';
import { createWriter } from './writer.ts';

function parse({ language, text }: HostileExpression): Expression | undefined {
  if (language === 'lucene') return parseLucene(text, SCOPE);
  return language === 'sql' ? parseCondition(text, SCOPE) : parseValue(text, SCOPE);
}

const WORDS = new Set(['AND', 'OR', 'NOT', 'LIKE', 'ILIKE', 'IN', 'BETWEEN', 'NULL', 'true', 'false', '_item']);
const CALLS = new Set([...functionNames(), 'arrayExists', 'toFloat64OrNull']);
const COLUMNS = new Set(SCOPE.columns.map(({ name }) => name).filter((name) => name !== 'OrganizationId'));

/** The parts of generated SQL other than known columns, bound values, allowed functions and operators. */
function findUnexpectedParts(sql: string): string[] {
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

  it.each(HOSTILE_EXPRESSIONS.filter(({ outcome }) => outcome === 'rejected'))(
    '$language: rejects $name',
    (attempt) => {
      let thrown: unknown;
      try {
        parse(attempt);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(ExpressionError);
      if (!(thrown instanceof ExpressionError)) return;
      expect(thrown.position).toBeGreaterThanOrEqual(0);
      expect(thrown.position).toBeLessThanOrEqual(attempt.text.length);
      expect(thrown.message.length).toBeLessThan(200);
      expect(pointAt(attempt.text, thrown)).toMatch(/^at character \d+: ".{1,60}"$/u);
    },
  );

  it.each(HOSTILE_EXPRESSIONS.filter(({ outcome }) => outcome === 'harmless'))(
    '$language: accepts $name without side effects',
    (attempt) => {
      const expression = parse(attempt);
      if (!expression) throw new Error('the expression is blank');
      const writer = createWriter();
      const sql = writer.write(expression);
      expect(findUnexpectedParts(sql)).toEqual([]);
      const isCondition = attempt.language === 'sql' || attempt.language === 'lucene';
      if (isCondition) for (const id of rows.matching(expression)) expect(id).toBeLessThan(100);
      else
        expect(JSON.stringify(rows.readValue(writer.writeText(expression), writer.parameters))).not.toContain('theirs');
    },
  );
});
