import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { expectResult, type Outcomes, runSteps, useIdleService } from '../idle-service.ts';
import { describeClient, installFromPyPi } from '../install.ts';

const PACKAGE = 'clickhouse-connect==1.12.0';
const PROGRAM = join(import.meta.dirname, '../python/clickhouse_connect_steps.py');
const INSERTED = [1000, 499_500, 'name 999'];
const withCode = (code: number) => ({ message: expect.stringContaining(`Code: ${code}.`), code });

const RESULTS: [string, unknown][] = [
  ['connects', [[21]]],
  ['ping', true],
  ['server_version', expect.stringMatching(/^\d+\.\d+/)],
  ['command', 42],
  ['create_table', 1],
  ['insert_native', INSERTED],
  ['insert_lz4', INSERTED],
  ['insert_zstd', INSERTED],
  ['insert_gzip', INSERTED],
  ['insert_asynchronously', INSERTED],
  ['insert_row_binary', [100, 2475]],
  ['insert_context', 'from a context'],
  [
    'select_columns',
    [
      [0, 1, 2],
      ['name 0', 'name 1', 'name 2'],
    ],
  ],
  ['select_types', expect.arrayContaining(['None', "['a', 'b']", "{'k': 1}", '2026-11-16 12:00:00.005000', '1.5000'])],
  ['stream_rows', 499_999_500_000],
  ['stream_bytes', '0\n1\n2\n3\n4\n'],
  ['server_parameters', ["it's a \t tab", [1, 2]]],
  ['client_parameters', ["it's", 13]],
  ['session_temporary_table', 3],
  ['session_set', 3],
  ['settings_of_a_query', 123],
  ['external_data', [['Oslo', 'Lima']]],
  ['syntax_error', withCode(62)],
  ['unknown_table', withCode(60)],
  ['error_during_the_result', expect.objectContaining({ message: expect.stringContaining('Code: 395.') })],
  ['wrong_password', withCode(194)],
  ['large_result', [300_000, 100]],
  ['cancel', [1, 0]],
  ['query_summary', ['10', true]],
  [
    'list_tables_and_columns',
    [
      'commented',
      [
        ['id', 'UInt32'],
        ['name', 'String'],
      ],
      'a table',
    ],
  ],
  ['another_database', ['other', 1]],
  [
    'database_api',
    [
      [
        [0, '0'],
        [1, '1'],
        [2, '2'],
      ],
      ['number', 'toString(number)'],
    ],
  ],
];

describeClient(
  PACKAGE,
  () => installFromPyPi(PACKAGE),
  (programs) => {
    const service = useIdleService();
    let outcomes: Outcomes;
    beforeAll(async () => {
      expect(await service.readState()).toBe('idle');
      outcomes = await runSteps(join(programs, 'python'), [PROGRAM, service.host, service.port, service.password]);
    });

    it('wakes the service', async () => expect(await service.readState()).toBe('running'));
    it.each(RESULTS)('%s', (call, expected) => expectResult(outcomes, call, expected));
    it('has no other steps', () => expect(Object.keys(outcomes)).toEqual(RESULTS.map(([call]) => call)));
  },
);
