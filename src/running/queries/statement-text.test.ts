import { expect, it } from 'vitest';
import { cutText } from './cut-text.ts';
import { checkReaderStatement } from './reader-rules.ts';
import { toShownStatement } from './shown-statement.ts';

it.each([
  ["SELECT 'a''b\\'c', 1.5e3, 0xFF, -7 FROM t", 'SELECT ?, ?, ?, -? FROM t'],
  ['SELECT 1 -- secret', 'SELECT ?'],
  ['SELECT /* a /* secret */ b */ x # secret', 'SELECT x'],
  ['SELECT "a 1", `b 2`, t1 FROM db2.t3', 'SELECT "a 1", `b 2`, t1 FROM db2.t3'],
  ['SELECT $tag$secret$tag$, ‘secret’', 'SELECT ?, ?'],
  ["INSERT INTO t VALUES ('secret', 2)", 'INSERT INTO t VALUES (?, ?)'],
  ['INSERT INTO t FORMAT CSV\nsecret,1', 'INSERT INTO t FORMAT CSV'],
  ["SELECT 'secret", 'SELECT ?'],
  ["  SELECT\n\t'x'  ", 'SELECT ?'],
  ['', ''],
])('%j is shown as %j', (sql, shown) => expect(toShownStatement(sql)).toBe(shown));

it('is cut at 4 KB, between two characters', () => {
  expect(Buffer.byteLength(toShownStatement(`SELECT ${'€'.repeat(5000)}`))).toBeLessThanOrEqual(4096);
  expect(cutText('a€', 3)).toBe('a');
  expect(cutText('a€', 4)).toBe('a€');
});

it('takes time that grows with the length only', () => {
  for (const text of [
    "'".repeat(200_001),
    '/*'.repeat(100_000),
    '"\\'.repeat(100_000),
    '$a$'.repeat(60_000),
    '`'.repeat(99_999),
  ]) {
    expect(toShownStatement(text).length).toBeLessThanOrEqual(4096);
    expect(() => checkReaderStatement(`SELECT 1 ${text}`)).not.toThrow(RangeError);
  }
});

it.each([
  "SELECT file('/x')",
  "SELECT `file`('/x')",
  `SELECT "fi\\x6ce"('/x')`,
  'SELECT “file”(x)',
  "SELECT file /* x */ ('/x')",
  "SELECT arrayMap(file, ['/x'])",
  'SELECT * APPLY file FROM t',
  "SELECT * FROM values('x String, a String ALIAS file(x)', '/x')",
  "SELECT * FROM VALUES('x String, a String ALIAS hostName()', '/x')",
  "SELECT * FROM generateRandom('a String aLiAs hostName()')",
  "SELECT * FROM generateRandom(concat('a String ALI', 'AS hostName()'))",
  "SELECT * FROM generateRandom('a String \\x41LIAS hostName()')",
  'SELECT * FROM `generateRandom`($$a String ALIAS hostName()$$)',
  "SELECT catboostEvaluate('/x', 1)",
])('a reader may not run %s', (sql) => expect(() => checkReaderStatement(sql)).toThrow(/^The reader may not run this/));

it('a reader may not name a function in a parameter', () => {
  const sql = 'SELECT arrayMap({f:Identifier}, [1])';
  expect(() => checkReaderStatement(sql, { f: 'file' })).toThrow();
  expect(() => checkReaderStatement(sql, { f: 'lower' })).not.toThrow();
});

it.each([
  "SELECT * FROM logs WHERE message LIKE '%file not found%' -- file(x)",
  'SELECT t.file, t."file" FROM t',
  'SELECT path AS file_name FROM files',
  "SELECT * FROM values('a Int8, b String', (1, 'x'))",
  "SELECT * FROM generateRandom('a Int8') LIMIT 1",
  "SELECT 'it\\'s' IS NULL, coalesce(NULL, 1)",
  'SELECT ‘x’, $$y$$',
])('a reader may run %s', (sql) => expect(() => checkReaderStatement(sql)).not.toThrow());
