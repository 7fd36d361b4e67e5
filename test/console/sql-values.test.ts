import { describe, expect, it } from 'vitest';
import { findErrorOffset } from '../../console/src/pages/sql/editor/error-position.ts';
import { chooseColumns, parseTime, toBars, toTimeData } from '../../console/src/pages/sql/result/chart-data.ts';
import { createReceived, receiveLine } from '../../console/src/pages/sql/result/result-stream.ts';
import { formatValue, formatWhole, orderRows, toColumn, toRecord } from '../../console/src/pages/sql/result/values.ts';
import { findStatement, listParameters, quoteName, splitStatements } from '../../console/src/pages/sql/statements.ts';

const columns = (...types: string[]) => types.map((type, index) => toColumn({ name: `c${index}`, type }));

describe('statements of a text', () => {
  it('end at semicolons that are not in quotes, comments or heredocs', () => {
    const text = [
      "SELECT ';', 'it''s;', '\\';', `a;b`, \"c;\" -- not; here",
      '; /* nor; here */ SELECT $$;$$, $x$;$$;$x$; -- only a comment',
      ';;',
      "SELECT 'open; end",
    ].join('\n');
    const found = splitStatements(text);
    expect(found.map((one) => one.text)).toEqual([
      "SELECT ';', 'it''s;', '\\';', `a;b`, \"c;\"",
      'SELECT $$;$$, $x$;$$;$x$',
      "SELECT 'open; end",
    ]);
    for (const { text: statement, from, to } of found) expect(text.slice(from, to)).toBe(statement);
    expect(splitStatements('  -- nothing\n;')).toEqual([]);
  });

  it('are found at the cursor', () => {
    const text = 'SELECT 1; SELECT 2;\n';
    expect(findStatement(text, 3)?.text).toBe('SELECT 1');
    expect(findStatement(text, 12)?.text).toBe('SELECT 2');
    expect(findStatement(text, text.length)?.text).toBe('SELECT 2');
    expect(findStatement('', 0)).toBeUndefined();
  });

  it('have parameters, each once', () => {
    const text =
      "SELECT {a:UInt8}, { list : Array(Nullable(String)) }, {a:UInt8}, '{no:String}' -- {nor:String}\n, {'k': 1}";
    expect(listParameters(text)).toEqual([
      { name: 'a', type: 'UInt8' },
      { name: 'list', type: 'Array(Nullable(String))' },
    ]);
  });

  it('have names in quotes where they need them', () => {
    expect(['events', 'my table', 'a`b'].map(quoteName)).toEqual(['events', '`my table`', '`a\\`b`']);
  });
});

describe('lines of a result', () => {
  it('give columns, rows, progress and the end', () => {
    const received = createReceived();
    receiveLine(received, '{"waking":true}');
    expect(received.isWaking).toBe(true);
    receiveLine(received, '{"progress":{"read_rows":"10","read_bytes":"80","total_rows_to_read":"100"}}');
    expect(received).toMatchObject({ isWaking: false, rowsRead: 10, bytesRead: 80, totalRows: 100 });
    receiveLine(received, '{"meta":[{"name":"n","type":"Nullable(UInt64)"}]}');
    receiveLine(received, '{"row":["18446744073709551615"]}');
    receiveLine(received, '{"row":[null]}');
    receiveLine(
      received,
      '{"end":{"queryId":"x","rows":2,"rowsRead":100,"bytesRead":800,"elapsedMs":3,"truncated":true}}',
    );
    expect(received).toMatchObject({
      columns: [{ name: 'n', kind: 'number' }],
      rows: [['18446744073709551615'], [null]],
      rowsRead: 100,
      cut: 'rows',
      hasEnded: true,
    });
  });

  it('may be an error with a position', () => {
    const received = createReceived();
    receiveLine(received, '{"exception":{"code":62,"name":"SYNTAX_ERROR","message":"Syntax error","position":8}}');
    expect(received.error).toEqual({ message: 'Syntax error', name: 'SYNTAX_ERROR', position: 7 });
  });

  it('are marked where the error is, in the text of the editor', () => {
    const statement = 'SELECT nme FROM t';
    const plain = { sql: statement, statement, offset: 100 };
    const explained = { sql: `EXPLAIN ${statement}`, statement, offset: 92 };
    const error = { message: 'Syntax error', name: undefined, position: 7 };
    expect(findErrorOffset(plain, error)).toBe(107);
    expect(findErrorOffset(explained, { ...error, position: 15 })).toBe(107);
    const unknown = { message: 'Unknown expression identifier `nme` in scope', name: undefined, position: undefined };
    expect(findErrorOffset(plain, unknown)).toBe(107);
    expect(findErrorOffset(explained, unknown)).toBe(107);
    expect(findErrorOffset(plain, { ...unknown, message: 'Timeout exceeded' })).toBeUndefined();
  });
});

describe('values of a result', () => {
  it('have a kind by their type', () => {
    const kinds = columns(
      'LowCardinality(Nullable(String))',
      'Nullable(Decimal(10, 2))',
      "DateTime64(3, 'UTC')",
      'Date32',
    );
    expect(kinds.map(({ kind }) => kind)).toEqual(['text', 'number', 'time', 'time']);
    expect(columns('Map(String, UInt8)', 'Array(Date)', 'BFloat16', 'Int256', 'UUID').map(({ kind }) => kind)).toEqual([
      'nested',
      'nested',
      'number',
      'number',
      'text',
    ]);
  });

  it('are shown on one line, or whole', () => {
    expect([null, '', 0, false, [1, 'a'], { a: null }].map(formatValue)).toEqual([
      'NULL',
      '',
      '0',
      'false',
      '[1,"a"]',
      '{"a":null}',
    ]);
    expect(formatWhole('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(formatWhole('{not json')).toBe('{not json');
    expect(toRecord(columns('UInt8').concat(columns('UInt8')), [1, 2])).toEqual({ c0: 1, 'c0 (2)': 2 });
  });

  it('are sorted by their type, NULL last', () => {
    const sort = (type: string, values: unknown[], isDescending = false) =>
      [
        ...orderRows(
          values.map((value) => [value]),
          values.length,
          columns(type),
          { column: 0, isDescending },
        ),
      ].map((index) => values[index]);
    expect(sort('UInt64', ['10', '9', null, '9007199254740993', '9007199254740992'])).toEqual([
      '9',
      '10',
      '9007199254740992',
      '9007199254740993',
      null,
    ]);
    expect(sort('Float64', [1, 'nan', -2, null], true)).toEqual(['nan', 1, -2, null]);
    expect(sort('String', ['b', 'a', 'B', null], true)).toEqual(['b', 'a', 'B', null]);
    expect([...orderRows([[2], [1]], 2, columns('UInt8'), undefined)]).toEqual([0, 1]);
  });
});

describe('chart of a result', () => {
  it('is over time if there is a time, else by category', () => {
    expect(chooseColumns(columns('String', 'DateTime', 'UInt8'))).toEqual({ x: 1, values: [2] });
    expect(chooseColumns(columns('UInt8', 'String', 'Float64'))).toEqual({ x: 1, values: [0, 2] });
    expect(chooseColumns(columns('UInt8', 'UInt8'))).toEqual({ x: 0, values: [1] });
    expect(chooseColumns(columns('String', 'Array(UInt8)'))).toBeUndefined();
  });

  it('adds up rows of the same time and leaves gaps', () => {
    const rows = [
      ['2026-11-18 01:00:00', '2', null],
      ['2026-11-18 00:00:00.5', 1, 7],
      ['2026-11-18 01:00:00', 3, null],
      ['no time', 3, 3],
    ];
    expect(toTimeData(columns('DateTime', 'UInt64', 'UInt8'), rows, { x: 0, values: [1, 2] })).toEqual({
      buckets: [Date.parse('2026-11-18T00:00:00.5Z'), Date.parse('2026-11-18T01:00:00Z')],
      lines: [
        { label: 'c1', values: [1, 5] },
        { label: 'c2', values: [7, null] },
      ],
    });
    expect(parseTime('2026-11-18')).toBe(Date.parse('2026-11-18T00:00:00Z'));
  });

  it('has as many bars as can be read', () => {
    const rows = Array.from({ length: 90 }, (_, index) => [`name ${index % 80}`, index]);
    const { parts, groups } = toBars(columns('String', 'UInt8'), rows, { x: 0, values: [1] });
    expect(parts[1]).toEqual({ name: 'c1', group: ['name 1'], isOthers: false, value: 82 });
    expect(groups).toEqual({ shown: 50, total: 80 });
  });
});
