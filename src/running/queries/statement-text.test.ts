import { expect, it } from 'vitest';
import { cutText } from './cut-text.ts';
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
  ["SELECT 1 // '\n, 'secret' -- '", 'SELECT ? , ?'],
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
  }
});
