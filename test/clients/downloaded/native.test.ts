import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { expectResult, type Outcomes, runSteps, useIdleService } from '../idle-service.ts';
import { buildGoProgram, describeClient, installFromPyPi } from '../install.ts';

const PYTHON_PACKAGE = 'clickhouse-driver==0.2.11';
const PYTHON_PROGRAM = join(import.meta.dirname, '../python/clickhouse_driver_steps.py');
const GO_NAME = 'clickhouse-go-steps';
const GO_SOURCE = join(import.meta.dirname, '../go/native');

const PYTHON_RESULTS: [string, unknown][] = [
  ['connects', [[21]]],
  ['current_user', [['owner']]],
  ['inserts', [1000, 1000, 499_500, 'name 999']],
  ['inserts_compressed', [[2000, 1]]],
  ['types', ['None', "['a', 'b']", "{'k': 1}", '2026-11-16 12:00:00', '1.5']],
  ['streams', 499_999_500_000],
  ['parameters', [["it's", 13]]],
  ['external_tables', [['Oslo'], ['Lima']]],
  ['dbapi', [[[1]], 'one']],
  ['another_database', [['driver_database']]],
  ['unknown_table', 60],
  ['wrong_password', 194],
  ['unknown_database', 81],
  ['cancel', [[1]]],
];

const GO_RESULTS: [string, unknown][] = [
  ['version', expect.stringMatching(/^\d+\.\d+/)],
  ['ping', true],
  ['create', true],
  ['batch', true],
  ['count', [10_000, 499_980_000]],
  ['stream', 1_000_000],
  ['error', 47],
  ['wrongPassword', 194],
  ['cancel', true],
  ['after', 'owner'],
];

describeClient(
  PYTHON_PACKAGE,
  () => installFromPyPi(PYTHON_PACKAGE, 'lz4==4.4.5', 'clickhouse-cityhash==1.0.2.6'),
  (programs) => checkSteps(join(programs, 'python'), [PYTHON_PROGRAM], PYTHON_RESULTS),
);

describeClient(
  'clickhouse-go 2.50.0',
  () => buildGoProgram(GO_NAME, GO_SOURCE),
  (programs) => checkSteps(join(programs, GO_NAME), [], GO_RESULTS),
);

/** Runs the steps of a client with the native port of a service that is idle. */
function checkSteps(program: string, args: string[], results: [string, unknown][]): void {
  const service = useIdleService();
  let outcomes: Outcomes;
  beforeAll(async () => {
    expect(await service.readState()).toBe('idle');
    outcomes = await runSteps(program, [...args, service.host, service.nativePort, service.password]);
  });

  it('wakes the service', async () => expect(await service.readState()).toBe('running'));
  it.each(results)('%s', (call, expected) => expectResult(outcomes, call, expected));
  it('has no other steps', () => expect(Object.keys(outcomes)).toEqual(results.map(([call]) => call)));
}
