import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExpressionRows, openExpressionRows, SCOPE } from '../../../test/support/expression-rows.ts';
import { anyText, inlineParameters, quoteText, sqlText } from '../../../test/support/sql-text.ts';
import type { Expression } from './expression.ts';
import { ExpressionError } from './expression-error.ts';
import { parseLucene } from './lucene/lucene.ts';
import { parseCondition, parseValue } from './sql/sql.ts';
import { createWriter } from './writer.ts';

const anyExpression = fc.oneof(sqlText.text, sqlText.number, sqlText.time, sqlText.condition);

/** Returns undefined if the text is rejected. Any error other than ExpressionError fails the test. */
function tryParse(parse: typeof parseLucene, text: string): Expression | undefined {
  try {
    return parse(text, SCOPE);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    expect(error.position).toBeGreaterThanOrEqual(0);
    expect(error.position).toBeLessThanOrEqual(text.length);
    return undefined;
  }
}

describe('any expression', () => {
  let rows: ExpressionRows;
  beforeAll(() => {
    rows = openExpressionRows();
  });
  afterAll(() => rows.close());

  it('is the same after formatting and parsing', () => {
    let accepted = 0;
    fc.assert(
      fc.property(anyExpression, (text) => {
        const tree = tryParse(parseValue, text);
        if (!tree) return;
        accepted += 1;
        const writer = createWriter();
        expect(parseValue(inlineParameters(writer.write(tree), writer.parameters), SCOPE)).toEqual(tree);
      }),
      { numRuns: 1_000 },
    );
    expect(accepted).toBeGreaterThan(500);
  });

  it('that is accepted runs on the engine as one expression that adds no names', () => {
    fc.assert(
      fc.property(anyExpression, (text) => {
        const tree = tryParse(parseValue, text);
        if (!tree) return;
        const writer = createWriter();
        const sql = writer.write(tree);
        rows.readValue(sql, writer.parameters, 4);
        const [, , , list, ...nodes] = rows.readFirstCell(`EXPLAIN AST SELECT ${sql}`, writer.parameters).split('\n');
        expect(list).toBe('   ExpressionList (children 1)');
        for (const node of nodes) {
          expect(node).toMatch(/^ {4,}(Function|ExpressionList|Identifier|Literal) /);
          expect(node).not.toMatch(/^ +(Function|Identifier).*\(alias/);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('has the operator precedence of the engine', () => {
    const column = fc.constantFrom('Duration', 'Value', 'SeverityNumber');
    const { value } = fc.letrec<Record<'value', string>>((tie) => ({
      value: fc.oneof(
        { depthSize: 'medium' },
        column,
        fc.tuple(tie('value'), fc.constantFrom('+', '-', '*', '/'), tie('value')).map((parts) => parts.join(' ')),
        column.map((name) => `- ${name}`),
      ),
    }));
    const { test } = fc.letrec<Record<'test', string>>((tie) => ({
      test: fc.oneof(
        { depthSize: 'medium' },
        fc.tuple(value, fc.constantFrom('=', '!=', '<', '>='), value).map((parts) => parts.join(' ')),
        fc.tuple(value, value, value).map(([a, b, c]) => `${a} BETWEEN ${b} AND ${c}`),
        value.map((operand) => `${operand} IN (1, 2)`),
        value.map((operand) => `${operand} = 1 IS NULL`),
        fc.tuple(tie('test'), fc.constantFrom('AND', 'OR'), tie('test')).map((parts) => parts.join(' ')),
        tie('test').map((operand) => `NOT ${operand}`),
      ),
    }));
    const shape = (sql: string) => rows.readFirstCell(`EXPLAIN AST SELECT ${sql}`);
    fc.assert(
      fc.property(test, (text) => {
        const tree = tryParse(parseCondition, text);
        if (!tree) return;
        const writer = createWriter();
        expect(shape(inlineParameters(writer.write(tree), writer.parameters))).toBe(shape(text));
      }),
      { numRuns: 60 },
    );
  });

  it('that is truncated anywhere is accepted or rejected', () => {
    fc.assert(
      fc.property(anyExpression, (text) => {
        for (let end = 0; end <= text.length; end += 1) tryParse(parseValue, text.slice(0, end));
      }),
      { numRuns: 60 },
    );
  });
});

describe('any string', () => {
  let rows: ExpressionRows;
  beforeAll(() => {
    rows = openExpressionRows();
  });
  afterAll(() => rows.close());

  const anyTokens = fc
    .array(
      fc.oneof(
        anyText,
        fc.constantFrom(
          ...'( ) [ ] { } , ; : . + - * / % = < > ! " \' ` \\ | & ~ ^ ? $ # @ 0 1.5 1e3 AND OR NOT IN LIKE BETWEEN IS NULL CASE WHEN THEN ELSE END INTERVAL TO Body Duration LogAttributes Timestamp Events.Name OrganizationId lower if coalesce'.split(
            ' ',
          ),
          ' ',
          "'x'",
          "LogAttributes['a']",
          'ServiceName:',
          'Duration:[',
          '\ud800',
          '\0',
        ),
      ),
      { maxLength: 25 },
    )
    .map((parts) => parts.join(''));

  it.each([
    ['SQL value', parseValue],
    ['SQL condition', parseCondition],
    ['Lucene', parseLucene],
  ] as const)('is %s or is rejected, without side effects', (_, parse) => {
    fc.assert(
      fc.property(anyTokens, (text) => {
        const tree = tryParse(parse, text);
        if (tree) createWriter().write(tree);
      }),
      { numRuns: 2_000 },
    );
  });

  it('that Lucene accepts runs on the engine and matches only rows of the organization', () => {
    const term = fc.oneof(
      anyText.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`),
      fc.constantFrom(
        'error',
        'conn*',
        '?ost',
        '*',
        'ServiceName:a?i*',
        'Duration:>5',
        'LogAttributes.http.status:500',
      ),
      fc.constantFrom(
        'Events.Name:re*',
        'Timestamp:[2026-11-15 TO *}',
        'Note:*',
        '-Score:>0',
        'LogAttributes:x',
        'Level:w*',
      ),
      fc.string({ unit: 'grapheme-ascii', maxLength: 12 }),
    );
    const query = fc.array(fc.tuple(fc.constantFrom('', ' AND ', ' OR ', ' NOT ', ' -', ' ('), term), { maxLength: 6 });
    fc.assert(
      fc.property(query, (parts) => {
        const tree = tryParse(parseLucene, parts.flat().join(''));
        if (tree) for (const id of rows.matching(tree)) expect(id).toBeLessThan(100);
      }),
      { numRuns: 60 },
    );
  });

  it('reaches the engine unchanged: as a literal, a key, a list item and a Lucene phrase', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const writer = createWriter();
        expect(rows.readValue(writer.write(parseValue(quoteText(text), SCOPE)), writer.parameters)).toBe(text);
        const inMap = parseValue(`LogAttributes[${quoteText(text)}]`, SCOPE);
        expect(inMap).toMatchObject({ node: 'entry', key: text });
        const phrase = text.replace(/["\\]/g, '\\$&');
        const alwaysTrue = [
          parseCondition(`${quoteText(text)} IN (${quoteText(text)}, 'x')`, SCOPE),
          parseLucene(`LogAttributes.x:"${phrase}" OR -LogAttributes.x:"${phrase}"`, SCOPE),
        ];
        for (const condition of alwaysTrue) expect(rows.matching(condition)).toEqual([1, 2, 3, 4]);
      }),
      { numRuns: 60 },
    );
  });
});
