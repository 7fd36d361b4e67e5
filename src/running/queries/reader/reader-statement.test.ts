import { describe, expect, it } from 'vitest';
import { AGGREGATES } from './aggregates.ts';
import { isColumnList } from './arguments.ts';
import { FUNCTIONS } from './functions.ts';
import { checkReaderStatement } from './reader-statement.ts';
import { REFUSED_FACTS, REFUSED_FUNCTIONS } from './refused.ts';
import { REFUSED_TABLE_FUNCTIONS, TABLE_FUNCTIONS } from './table-functions.ts';
import { KEYWORDS, PARSER_FUNCTIONS, TYPES } from './words.ts';

const refusedNames = [...REFUSED_FUNCTIONS.flatMap(({ names }) => names), ...REFUSED_FACTS];
const check = (sql: string, parameters?: Record<string, string>) => () => checkReaderStatement(sql, parameters);

describe('what a reader may run', () => {
  it.each([
    'SELECT 1',
    '',
    '-- nothing',
    'SELECT 1;',
    "SELECT * FROM logs WHERE message LIKE '%file not found%' -- file(x)",
    'SELECT t.file, t."file" FROM t',
    'SELECT path AS file_name, url, format, remote, user FROM files',
    "SELECT format('{} of {}', a, b), FORMAT('{0}', a) FROM t",
    "SELECT * FROM values('a Int8, b String', (1, 'x'))",
    "SELECT * FROM values('a Enum8(''x'' = 1), b Tuple(c Array(Nullable(UInt8)), d Decimal(9, 2))', (1, 'x'))",
    "SELECT * FROM values((1, 'a'), (2, 'b'))",
    "SELECT * FROM (VALUES ('a', 1), ('b', 2)) AS t(x, y)",
    "SELECT * FROM generateRandom('a Int8', 1, 10, 2) LIMIT 1",
    "SELECT 'it\\'s' IS NULL, coalesce(NULL, 1)",
    'SELECT ‘x’, $$y$$, $a$file(1)$a$, “c” FROM t',
    'SELECT `odd \\\\ name`, "a""b" FROM t',
    'SELECT 1 // file(x)\n + 1',
    "SELECT x'4142', b'01', 1e5, 1.5e-3, 0x1p-3, 0xFFe, 2nd, t.1.name, (1, 2).1 FROM t",
    'SELECT sumIf(a, b > 1), uniqExactArrayIf(c, d), quantiles(0.5, 0.9)(e), COUNT(DISTINCT f), countIf(g) FROM t',
    "SELECT arrayReduce('sum', a), arrayReduce('quantilesIf(0.5, 0.9)', a, b) FROM t",
    "SELECT arrayMap((x, y) -> x + y, a, b), arrayFilter(x -> x LIKE 'a%', c) FROM t",
    'SELECT row_number() OVER (PARTITION BY a ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM t',
    'SELECT sum(a) OVER w FROM t WINDOW w AS (PARTITION BY b)',
    'WITH a AS (SELECT 1 AS x), b(y) AS (SELECT 2) SELECT * FROM a CROSS JOIN b',
    'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r',
    'SELECT * FROM db.view_with_parameters(a = 1)',
    "SELECT CAST(a AS Nullable(DateTime64(3, 'UTC'))), b::Array(LowCardinality(String)), CAST(c, 'Decimal(9, 2)') FROM t",
    "SELECT JSONExtract(j, 'a', 'Array(String)'), j.a.b::String, JSON_VALUE(j, '$.a') FROM t",
    'SELECT {n:UInt8} + {list:Array(UInt8)}[1], {file:String} FROM {t:Identifier}',
    "SELECT DATE '2020-01-01' + INTERVAL 1 DAY, INTERVAL (1 + 1) DAY, date_add(DAY, 1, d), EXTRACT(YEAR FROM d) FROM t",
    'SELECT a, grouping(a) FROM t GROUP BY GROUPING SETS ((a), ()) WITH TOTALS HAVING (count() > 1) LIMIT (2) BY a',
    "SELECT * EXCEPT (a) REPLACE (b + 1 AS b) APPLY(toString), COLUMNS('^c') APPLY(x -> upper(x)) FROM t",
    'SELECT a FROM t ORDER BY a WITH FILL FROM (1) TO (9) STEP (1) INTERPOLATE (b AS b + 1)',
    'SELECT * FROM a ASOF JOIN b USING (x) LEFT ARRAY JOIN [1, 2] AS y PREWHERE (x IN (SELECT 1)) QUALIFY (y = 1)',
    'SELECT * FROM (SELECT 1 UNION DISTINCT (SELECT 2)) AS t (SELECT 3)',
    "SELECT if(a, b, c), multiIf(a, 1, b, 2, 3), CASE WHEN (a) THEN (1) ELSE (2) END IN (1), x'41', 1_000, 0xFF, .5 FROM t",
    'FROM t SELECT a',
    '(SELECT 1) UNION ALL (SELECT 2) FORMAT JSON',
    "SELECT a FROM t SETTINGS max_threads = 2, join_algorithm = 'hash'",
    'EXPLAIN SELECT 1',
    'EXPLAIN PLAN indexes = 1, actions = 1 SELECT 1',
    'EXPLAIN QUERY TREE run_passes = 0 (SELECT 1)',
    'SELECT * FROM (EXPLAIN PIPELINE SELECT 1)',
    'DESCRIBE TABLE t',
    'DESC (SELECT 1)',
    'EXISTS TABLE db.t',
    "SHOW TABLES FROM db LIKE '%a%'",
    'SHOW CREATE TABLE db.user',
    'SHOW FULL COLUMNS FROM t',
    'SHOW DATABASES',
    "SELECT * FROM information_schema.tables WHERE table_schema NOT IN ('system')",
    'SELECT currentUser(), version(), hostName(), currentDatabase(), timezone(), @@version_comment',
  ])('it may run %s', (sql) => expect(check(sql)).not.toThrow());
});

describe('what a reader may not run', () => {
  it.each([
    "SELECT file('/x')",
    "SELECT `file`('/x')",
    "SELECT FILE('/x')",
    'SELECT “file”(x)',
    "SELECT file /* x */ ('/x')",
    "SELECT 1 // '\n, file('/x') -- '",
    "SELECT 1 # '\n, file('/x') -- '",
    "SELECT /* /* */ ' */ file('/x') -- '",
    "SELECT $a$ ' $a$, file('/x') -- '",
    "SELECT arrayMap(file, ['/x'])",
    'SELECT * APPLY file FROM t',
    'WITH file AS f SELECT f(1)',
    "SELECT * FROM values('x String, a String ALIAS file(x)', '/x')",
    "SELECT * FROM VALUES('x String, a String ALIAS hostName()', '/x')",
    "SELECT * FROM values(('x String, a String ALIAS hostName()'), '/x')",
    "SELECT * FROM (values('x String, a String ALIAS hostName()', '/x') AS a JOIN (SELECT 1))",
    "SELECT * FROM values({s:String}, '/x')",
    "SELECT * FROM values('x Str' || 'ing', '/x')",
    "SELECT * FROM generateRandom('a String aLiAs hostName()')",
    "SELECT * FROM generateRandom(concat('a String ALI', 'AS hostName()'))",
    "SELECT * FROM generateRandom('a String \\x41LIAS hostName()')",
    'SELECT * FROM `generateRandom`($$a String ALIAS hostName()$$)',
    'SELECT * FROM generateRandom(generateRandomStructure(3))',
    "SELECT structureToCapnProtoSchema('x String DEFAULT hostName()')",
    "SELECT catboostEvaluate('/x', 1)",
    "SELECT format(CSV, 'x String', 'a')",
    "SELECT format('CSV', 'x String', 'a')",
    "DESCRIBE format(CSV, concat('x String, y Int32 DEFAULT toInt32(fi','le(\\'a\\'))'), 'a')",
    "DESCRIBE format(concat('C', 'SV'), 'x String', 'a')",
    "SELECT arrayReduce('quantiles(toFloat64(file(\\'/x\\')))', [1])",
    'SELECT arrayReduce($$quantiles(toFloat64(hostName()))$$, [1])',
    "SELECT initializeAggregation('sum' || 'If', 1)",
    'SELECT initializeAggregation({a:String}, 1)',
    'SELECT unknownFunction(1)',
    "DESCRIBE format(x'435356', 'x String', 'a')",
    "SELECT * FROM generateRandom(x'6120496e74382044454641554c542031')",
    "SELECT 0b1e--file('x')\n",
    "SELECT 1e--file('x')\n",
    'SELECT `x`.y, view_without_database(a = 1)',
    'CREATE TABLE t (a Int8) ENGINE = Memory',
    'INSERT INTO t VALUES (1)',
    'WITH 1 AS x INSERT INTO t SELECT x',
    'SELECT 1; SELECT 2',
    "SELECT 1 INTO OUTFILE 'x'",
    'SELECT 1 PARALLEL WITH SELECT 2',
    'EXPLAIN INSERT INTO t SELECT 1',
    'EXPLAIN AST CREATE TABLE t (a Int8) ENGINE = Memory',
    "EXPLAIN TABLE OVERRIDE mysql('a', 'b', 'c', 'd', 'e') COLUMNS (x Int8)",
    '(EXPLAIN SELECT 1)',
    'SHOW CREATE USER owner',
    'SHOW ACCESS',
    'SHOW PROCESSLIST',
    'SET max_threads = 1',
    'USE db',
    'SYSTEM SHUTDOWN',
    'KILL QUERY WHERE 1',
    'BACKUP ALL TO Memory(1)',
    'EXECUTE AS owner SELECT 1',
    'BEGIN TRANSACTION',
    'CHECK TABLE t',
    ...TABLE_FUNCTIONS.filter((name) => /^(null|generateRandom)$/.test(name)).map(
      (name) => `SELECT * FROM ${name}('a Int8 MATERIALIZED 1')`,
    ),
    ...REFUSED_TABLE_FUNCTIONS.map((name) => `SELECT * FROM ${name}('a', 'b')`),
    ...REFUSED_TABLE_FUNCTIONS.map((name) => `DESCRIBE TABLE \`${name}\`('a', 'b')`),
    ...refusedNames.map((name) => `SELECT ${name}(1)`),
  ])('it may not run %s', (sql) => expect(check(sql)).toThrow(/^The reader may not run this statement/));

  it.each([
    "SELECT 'a",
    'SELECT `a',
    'SELECT /* a',
    'SELECT $a$ b',
    'SELECT ‘a',
    'SELECT 1 − 2',
    'SELECT "\\x66ile"(1)',
  ])('%s cannot be read', (sql) =>
    expect(check(sql)).toThrow(/^The reader may not run this statement: .* at position \d+ /),
  );

  it('names the function and what is permitted', () => {
    expect(check("SELECT 1, file('x')")).toThrow('It calls file at position 11, and it reads files');
    expect(check('SELECT * FROM s3(1)')).toThrow(
      'It calls s3 at position 15. The table functions of a reader are generateRandom, ',
    );
    expect(check('SELECT foo(1)')).toThrow('It calls foo at position 8, which is no function of ClickHouse');
    expect(check('DROP TABLE t')).toThrow('It starts with DROP TABLE. A reader may run one statement: SELECT, WITH, ');
  });

  it('says that a statement is mistyped', () => {
    expect(check('SELEC 1')).toThrow('Syntax error: It starts with SELEC 1. A reader may run SELECT, WITH, ');
    expect(check('(')).not.toThrow();
    expect(check("'file'")).toThrow('Syntax error: ');
  });

  it('may not name a function in a parameter', () => {
    const sql = 'SELECT arrayMap({f:Identifier}, [1])';
    for (const f of ['file', '`file`', 'x.file']) expect(check(sql, { f })).toThrow();
    expect(check(sql, { f: 'lower' })).not.toThrow();
    expect(check('SELECT {f:String}', { f: 'file' })).not.toThrow();
  });
});

it.each([
  ['a Int8', true],
  ["a Int8, `b c` Nullable(String), d Enum8('x' = -1), e Map(String, Array(UInt8))", true],
  ['a AggregateFunction(quantiles(0.5, 0.9), UInt64), n Nested(x Int8, y String)', true],
  ["a DateTime64(3, 'UTC'), j JSON(max_dynamic_paths = 2, a.b UInt32)", true],
  ['', false],
  ['a', false],
  ['a Int8,', false],
  ['a Int8 DEFAULT 1', false],
  ['a Int8 ALIAS b', false],
  ['a Int8 TTL now()', false],
  ['a Int8) x (', false],
  ['a DEFAULT hostName()', false],
  ['a Decimal(toUInt8(1), 2)', false],
  ["a Int8 /* ' */", true],
  ["a 'Int8", false],
  ['a Array(hostName())', false],
  ['a Tuple(b Int8 DEFAULT hostName())', false],
])('%j is a list of columns: %j', (text, is) => expect(isColumnList(text)).toBe(is));

it('has each name in one list, in any case', () => {
  const names = [...FUNCTIONS, ...AGGREGATES, ...PARSER_FUNCTIONS, ...refusedNames].map((name) => name.toLowerCase());
  const refused = new Set(refusedNames.map((name) => name.toLowerCase()));
  for (const name of [...FUNCTIONS, ...AGGREGATES, ...PARSER_FUNCTIONS, ...TABLE_FUNCTIONS, ...KEYWORDS, ...TYPES])
    expect(refused.has(name.toLowerCase()), name).toBe(false);
  for (const name of [...TABLE_FUNCTIONS, ...KEYWORDS, ...TYPES])
    expect(REFUSED_TABLE_FUNCTIONS.map((one) => one.toLowerCase())).not.toContain(name.toLowerCase());
  expect(new Set([...FUNCTIONS, ...AGGREGATES, ...refusedNames]).size).toBe(
    FUNCTIONS.length + AGGREGATES.length + refusedNames.length,
  );
  expect(names.length).toBeGreaterThan(1700);
});

it('takes time that grows with the length only', () => {
  const measure = (text: string) => {
    const start = process.cpuUsage();
    try {
      checkReaderStatement(text);
    } catch (error) {
      expect(error).not.toBeInstanceOf(RangeError);
    }
    const { user, system } = process.cpuUsage(start);
    return user + system;
  };
  const parts = [
    "null('a Int8'),",
    '(values((1,2))),',
    'sumIf(1),',
    'EXPLAIN ',
    'a=1,',
    "'",
    '/*',
    '"\\',
    '$a$',
    '`',
    '(',
    '[',
  ];
  for (const part of parts) {
    const make = (characters: number) => `SELECT ${part.repeat(characters / part.length)}`;
    measure(make(50_000));
    const [short, long] = [measure(make(64 * 1024)), measure(make(256 * 1024))];
    expect(long, part).toBeLessThan(12 * Math.max(short, 50_000));
  }
  measure(`SELECT sum${'If'.repeat(100_000)}(1)`);
});
