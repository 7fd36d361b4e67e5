import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { expectResult, type Outcomes, runSteps, useIdleService } from '../idle-service.ts';
import { buildGoProgram, describeClient, installFromDebian, installFromPyPi } from '../install.ts';

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

/** The program and the libraries that other programs on this machine may not need. */
const DEBIAN_PACKAGES = [
  'clickhouse-client',
  'clickhouse-common',
  'libboost-filesystem1.74.0',
  'libboost-program-options1.74.0',
  'libcapnp-0.9.2',
  'libcctz2',
  'libcpuinfo0',
  'libdouble-conversion3',
  'libfarmhash0',
  'libicu72',
  'libjemalloc2',
  'libltdl7',
  'libmariadb3',
  'libmetrohash1',
  'libodbc2',
  'libpcre3',
  'libpococrypto80',
  'libpocodata80',
  'libpocodataodbc80',
  'libpocofoundation80',
  'libpocojson80',
  'libpocomongodb80',
  'libpoconet80',
  'libpoconetssl80',
  'libpocoutil80',
  'libpocoxml80',
  'librdkafka1',
  'libre2-9',
  'libsasl2-2',
];

describeClient(
  'clickhouse-client 18.16, of Debian 12',
  () => installFromDebian(...DEBIAN_PACKAGES),
  (files) => {
    const service = useIdleService();
    const libraries = ['usr/lib', 'lib'].map((folder) => join(files, folder, 'x86_64-linux-gnu'));
    const run = async (sql: string, password = service.password): Promise<string> => {
      const target = ['--host', service.host, '--port', service.nativePort, '--password', password];
      const program = join(files, 'usr/bin/clickhouse-client');
      const env = { ...process.env, LD_LIBRARY_PATH: libraries.join(':') };
      const { stdout } = await promisify(execFile)(program, [...target, '--query', sql], { env });
      return stdout;
    };

    it('wakes the service, inserts and reads', async () => {
      expect(await service.readState()).toBe('idle');
      expect(await run('SELECT currentUser()')).toBe('owner\n');
      await run('CREATE TABLE client_rows (id UInt32, name String) ENGINE = MergeTree ORDER BY id');
      await run("INSERT INTO client_rows VALUES (1, 'one'), (2, 'two')");
      expect(await run('SELECT id, name FROM client_rows ORDER BY id')).toBe('1\tone\n2\ttwo\n');
    });

    it('shows errors', async () => {
      await expect(run('SELECT nothing')).rejects.toThrow('Code: 47');
      await expect(run('SELECT 1', 'wrong')).rejects.toThrow('Code: 194');
    });
  },
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
