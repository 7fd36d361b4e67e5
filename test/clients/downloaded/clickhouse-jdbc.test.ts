import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { expectResult, type Outcomes, runSteps, useIdleService } from '../idle-service.ts';
import { describeClient, getFolder, installFromMaven, runProgram } from '../install.ts';

const DRIVER = 'com.clickhouse:clickhouse-jdbc:0.9.8:jar:all';
/** The driver does not contain it. */
const LOGGING = 'org.slf4j:slf4j-api:2.0.17';
const PROGRAM = join(import.meta.dirname, '../java/JdbcSteps.java');
const withCode = (code: number) => expect.stringMatching(new RegExp(`^${code} Code: ${code}\\.`));

const RESULTS: [string, unknown][] = [
  ['connect', true],
  ['isValid', true],
  ['select', [21]],
  ['product', 'ClickHouse'],
  ['version', expect.stringMatching(/^\d+\.\d+/)],
  ['create table', [1]],
  ['insert', 2],
  ['insert a batch', ["1000 it's \\ number 999"]],
  ['insert asynchronously', ['queued']],
  ['select rows', ['one', 'two']],
  ['parameters', [100]],
  ['types', ['null low [a, b] {k=1} 1.5000 00000000-0000-0000-0000-000000000007 1794830400005 true']],
  ['streaming', 499_999_500_000],
  ['large result', 300_000],
  ['without compression', [499_500]],
  ['compressed requests', [10_000]],
  ['SET in a session', [3]],
  ['temporary table', [3]],
  ['syntax error', withCode(62)],
  ['unknown table', withCode(60)],
  ['wrong password', withCode(194)],
  ['cancel', true],
  ['max_execution_time', withCode(159)],
  ['setSchema', 'other [other]'],
  ['getSchemas', expect.arrayContaining(['default', 'other', 'system'])],
  ['getCatalogs', expect.any(Number)],
  ['getTables', ['events what happened']],
  ['getColumns', ['id UInt32', 'name String', 'at DateTime']],
  ['getPrimaryKeys', ['id']],
  ['getTableTypes', expect.arrayContaining(['TABLE', 'VIEW'])],
  ['getTypeInfo', expect.arrayContaining(['UInt64', 'String'])],
  ['getFunctions', ['toString']],
  ['getIndexInfo', expect.any(Array)],
  ['ResultSetMetaData', ['id UInt32', 'name String', 'at DateTime']],
];

/** Compiles the steps; the result is the class path. */
function prepare(): string {
  const jars = [DRIVER, LOGGING].map((artifact) => join(installFromMaven(artifact), '*'));
  const classes = getFolder('jdbc steps');
  runProgram('javac', ['-d', classes, PROGRAM]);
  return [classes, ...jars].join(':');
}

describeClient(DRIVER, prepare, (classPath) => {
  const service = useIdleService();
  let outcomes: Outcomes;
  beforeAll(async () => {
    expect(await service.readState()).toBe('idle');
    const { host, port, password } = service;
    outcomes = await runSteps('java', ['-cp', classPath, 'JdbcSteps', host, port, password]);
  });

  it('wakes the service', async () => expect(await service.readState()).toBe('running'));
  it.each(RESULTS)('%s', (call, expected) => expectResult(outcomes, call, expected));
  it('has no other steps', () => expect(Object.keys(outcomes)).toEqual(RESULTS.map(([call]) => call)));
});
