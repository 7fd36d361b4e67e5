import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExpressionRows, openExpressionRows, SCOPE } from '../../../test/support/expression-rows.ts';
import { getKind } from './expression.ts';
import { parseCondition, parseValue } from './sql/sql.ts';
import { createWriter, quoteName, type Writer } from './writer.ts';

describe('the writer', () => {
  let rows: ExpressionRows;
  beforeAll(() => {
    rows = openExpressionRows();
  });
  afterAll(() => rows.close());

  /** The value for each row, in order of id. */
  function readRows(write: (writer: Writer) => string): unknown[] {
    const writer = createWriter();
    const sql = write(writer);
    return [1, 2, 3, 4].map((id) => rows.readValue(sql, writer.parameters, id));
  }

  it('binds a value once, however often it is used', () => {
    const writer = createWriter();
    const text = "LogAttributes['a'] = 'a' OR LogAttributes['a'] = 'b' OR SeverityNumber = 1 OR Value = 1";
    const condition = parseCondition(text, SCOPE);
    expect(condition && writer.write(condition)).toBe(
      '((`LogAttributes`[{p1:String}] = {p1:String}) OR (`LogAttributes`[{p1:String}] = {p2:String}) OR (`SeverityNumber` = {p3:UInt8}) OR (`Value` = {p3:UInt8}))',
    );
    expect(writer.parameters).toEqual({ p1: 'a', p2: 'b', p3: 1 });
    expect(writer.bind(7, 'UInt32')).toBe('{p4:UInt32}');
    expect(writer.bind('1', 'UInt8')).toBe('{p5:UInt8}');
  });

  it('parses numbers from strings and ignores everything else', () => {
    const number = (text: string) => readRows((writer) => writer.writeNumber(parseValue(text, SCOPE)));
    expect(number("LogAttributes['http.status']")).toEqual([500, 1500, 99.5, null]);
    expect(number("LogAttributes['ratio']")).toEqual([null, null, 1000, null]);
    expect(number('Note')).toEqual([null, null, null, null]);
    expect(number('SeverityNumber')).toEqual([17, 9, 17, 0]);
    expect(number('Score')).toEqual([7, -1, null, 0]);
    expect(number('IsError')).toEqual([1, 0, 1, 0]);
    expect(number('Duration > 100')).toEqual([1, 1, 0, 1]);
    expect(number('Day')).toEqual([20772, 20772, 20773, 20774]);
  });

  it('formats any value as a label', () => {
    const label = (text: string) => readRows((writer) => writer.writeText(parseValue(text, SCOPE)));
    expect(label('ServiceName')).toEqual(['api', 'API-gateway', 'worker', 'Worker_2']);
    expect(label('SeverityNumber')).toEqual(['17', '9', '17', '0']);
    expect(label('Score')).toEqual(['7', '-1', null, '0']);
    expect(label('IsError')).toEqual(['true', 'false', 'true', 'false']);
    expect(label('Level')).toEqual(['warn', 'info', 'info', 'info']);
    expect(label('Buckets')).toEqual(['[1,2,300]', '[5]', '[]', '[]']);
    expect(label("LogAttributes['http.method']")).toEqual(['GET', 'post', '', "it's"]);
  });

  it('detects missing values', () => {
    const presence = (text: string) => readRows((writer) => writer.writePresence(parseValue(text, SCOPE)) ?? 'always');
    expect(presence("LogAttributes['http.method']")).toEqual([1, 1, 0, 1]);
    expect(presence("LogAttributes['empty']")).toEqual([0, 0, 1, 0]);
    expect(presence("lower(LogAttributes['http.method'])")).toEqual([1, 1, 0, 1]);
    expect(presence("concat(LogAttributes['http.method'], LogAttributes['path'])")).toEqual([0, 1, 0, 0]);
    expect(presence("LogAttributes['http.status'] * 2")).toEqual([1, 1, 1, 0]);
    expect(presence('Note')).toEqual([1, 1, 0, 0]);
    expect(presence('Score + 1')).toEqual([1, 1, 0, 1]);
    expect(presence("Counters['hits']")).toEqual([1, 0, 0, 0]);
    const always = [
      'Body',
      'Duration + 1',
      "coalesce(LogAttributes['x'], 'none')",
      "if(IsError, LogAttributes['x'], '')",
    ];
    for (const text of [...always, "LogAttributes['x'] IS NULL", "mapContains(LogAttributes, 'x')"]) {
      expect(createWriter().writePresence(parseValue(text, SCOPE)), text).toBeUndefined();
    }
  });

  it('determines the type of every expression', () => {
    const kinds = Object.fromEntries(
      [
        'Body',
        "LogAttributes['x']",
        'Level',
        'Duration / 2',
        'IsError',
        'Duration > 1',
        'Timestamp',
        'Buckets',
        'LogAttributes',
        'Pair',
      ].map((text) => [text, getKind(parseValue(text, SCOPE))]),
    );
    expect(kinds).toEqual({
      Body: 'string',
      "LogAttributes['x']": 'string',
      Level: 'string',
      'Duration / 2': 'number',
      IsError: 'boolean',
      'Duration > 1': 'boolean',
      Timestamp: 'time',
      Buckets: 'array',
      LogAttributes: 'map',
      Pair: 'other',
    });
  });

  it.each(['a`b', 'a\\b', "a'b", 'a"b', '`', '\\', 'a.b', 'größe', 'a\nb', 'SELECT', '{p1:String}', '--', ' '])(
    'quotes the column %j so that the engine reads the same name',
    (name) => {
      expect(rows.readFirstCell(`SELECT ${quoteName(name)} FROM (SELECT 7 AS ${quoteName(name)})`)).toBe('7');
      const described = rows.readFirstCell(`DESCRIBE TABLE (SELECT 7 AS ${quoteName(name)})`);
      expect(described.startsWith(`${name}\tUInt8`)).toBe(true);
    },
  );

  it('reads only the given map key, whether bound or literal', () => {
    const writer = createWriter();
    const condition = parseCondition("LogAttributes['http.method'] = 'GET'", SCOPE);
    const where = condition && writer.write(condition);
    const plan = rows.readFirstCell(`EXPLAIN actions = 1 SELECT count() FROM logs WHERE ${where}`, writer.parameters);
    expect(plan).toContain('LogAttributes.key_http.method');
  });
});
