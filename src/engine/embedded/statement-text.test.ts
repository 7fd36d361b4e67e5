import { describe, expect, it } from 'vitest';
import { findFormat, findProhibition, toLiteral } from './statement-text.ts';

describe('checking a reader statement', () => {
  it.each([
    'SELECT 1',
    'select 1 format JSONCompact',
    ' \n(SELECT 1) UNION ALL (SELECT 2);',
    'WITH 1 AS x SELECT x',
    'EXPLAIN AST SELECT 1',
    "SELECT ';', '--', '/*', 'it''s', 'a\\'b', 'INTO OUTFILE', 'file(' ",
    'SELECT "a;b", `c--d` FROM pilothouse.otel_logs',
    'SELECT file, `file` AS "file" FROM t',
    "SELECT profile('x'), fileName('y')",
    'SELECT name FROM system.columns',
    'SELECT t.1, a[1], x -> x + 1, 1e-3, 0x1F, {a:Map(String, UInt8)}',
    "SELECT 'ü😀', `ü`",
    'SELECT system.columns.name FROM system.columns',
  ])('accepts %j', (sql) => expect(findProhibition(sql)).toBeUndefined());

  it.each([
    ['', 'only SELECT'],
    ['SET readonly = 0', 'only SELECT'],
    ['SHOW DATABASES', 'only SELECT'],
    ['INSERT INTO t VALUES (1)', 'only SELECT'],
    ['DROP TABLE t', 'only SELECT'],
    ['KILL QUERY WHERE 1', 'only SELECT'],
    ['SELECT 1; SELECT 2', 'one statement'],
    ["SELECT ';'; SET ROLE ALL", 'one statement'],
    ["SELECT '\\\\'; SELECT 2 --'", 'comments'],
    ['SELECT 1 -- x', 'comments'],
    ['SELECT 1 /* x */', 'comments'],
    ['SELECT 1 # x', 'comments'],
    ["SELECT 'open", 'a quote'],
    ["SELECT 'open\\'", 'a quote'],
    ['SELECT "open', 'a quote'],
    ['SELECT `open', 'a quote'],
    ['SELECT $$a$$', 'a quote'],
    ['SELECT ‘a’', 'a quote'],
    ['SELECT 1\0', 'a quote'],
    ['SELECT ü', 'a quote'],
    ["SELECT 1 INTO OUTFILE '/tmp/x'", 'OUTFILE'],
    ["SELECT 1 into\noutfile '/tmp/x'", 'OUTFILE'],
    ["SELECT file('/etc/passwd')", 'file'],
    ["SELECT `file` ('/etc/passwd')", 'file'],
    ['SELECT "\\x66ile"(\'/etc/passwd\')', 'not allowed'],
    ["SELECT * APPLY(file) FROM (SELECT '/etc/passwd')", 'file'],
    ["SELECT * APPLY file FROM (SELECT '/etc/passwd')", 'file'],
    ["SELECT arrayMap(x -> file(x), ['/etc/passwd'])", 'file'],
    ['SELECT query FROM system.processes', 'system.processes'],
    ['SELECT query FROM `system` . "processes"', 'system.processes'],
    ['SELECT query FROM `\\x73ystem`.processes', 'not allowed'],
    ['SELECT * FROM INFORMATION_SCHEMA.tables', 'not allowed'],
    ["SELECT * FROM merge('system', 'processes')", 'merge'],
    ["SELECT * FROM executable('x', 'CSV', 'a String')", 'executable'],
  ])('rejects %j', (sql, reason) => expect(findProhibition(sql)).toContain(reason));

  it('includes the names of bound parameters', () => {
    const sql = 'SELECT * FROM {db:Identifier}.{table:Identifier}';
    const bound = (db: string, table: string) =>
      findProhibition(sql, [
        ['db', db],
        ['table', table],
      ]);
    expect(bound('pilothouse', 'otel_logs')).toBeUndefined();
    expect(bound('system', 'columns')).toBeUndefined();
    expect(bound('system', 'processes')).toContain('system.processes');
    expect(bound('\\x73ystem', 'processes')).toContain('not allowed');
    expect(findProhibition('SELECT * FROM {t:Identifier}', [['t', 'system.processes']])).toContain('system.processes');
    expect(findProhibition("SELECT {f:Identifier}('/etc/passwd')", [['f', 'file']])).toContain('file');
  });
});

describe('a literal', () => {
  it('escapes quotes, backslashes and NUL', () => {
    expect(toLiteral("a'b")).toBe("'a\\'b'");
    expect(toLiteral('a\\')).toBe("'a\\\\'");
    expect(toLiteral('a\0b')).toBe("'a\\0b'");
  });
});

describe('the format of a statement', () => {
  it('is the FORMAT clause at its end', () => {
    expect(findFormat('SELECT 1 FORMAT CSV')).toBe('CSV');
    expect(findFormat('SELECT 1\nformat JSONCompact ;\n')).toBe('JSONCompact');
    expect(findFormat("SELECT 'FORMAT CSV'")).toBeUndefined();
    expect(findFormat('SELECT 1')).toBeUndefined();
  });
});
