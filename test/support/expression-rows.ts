import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Session } from 'chdb';
import type { Expression } from '../../src/observability/expressions/expression.ts';
import type { Scope } from '../../src/observability/expressions/scope.ts';
import { createWriter } from '../../src/observability/expressions/writer.ts';

const ATTRIBUTES = 'Map(LowCardinality(String), String)';

const COLUMNS = [
  ['OrganizationId', 'String'],
  ['Id', 'UInt32'],
  ['Timestamp', "DateTime64(9, 'UTC')"],
  ['Body', 'String'],
  ['ServiceName', 'LowCardinality(String)'],
  ['SeverityNumber', 'UInt8'],
  ['Duration', 'UInt64'],
  ['Value', 'Float64'],
  ['IsError', 'Bool'],
  ['Note', 'Nullable(String)'],
  ['Score', 'Nullable(Int32)'],
  ['Level', "Enum8('info' = 1, 'warn' = 2)"],
  ['Day', 'Date'],
  ['Seconds', "DateTime('UTC')"],
  ['LogAttributes', ATTRIBUTES],
  ['ResourceAttributes', ATTRIBUTES],
  ['Counters', 'Map(String, UInt64)'],
  ['Events.Name', 'Array(LowCardinality(String))'],
  ['Events.Attributes', `Array(${ATTRIBUTES})`],
  ['Buckets', 'Array(UInt64)'],
  ['Pair', 'Tuple(UInt8, String)'],
] as const;

export const SCOPE: Scope = { columns: COLUMNS.map(([name, type]) => ({ name, type })), implicitColumn: 'Body' };

type Row = Partial<Record<(typeof COLUMNS)[number][0], unknown>> & { Id: number };

/** Rows that differ in the columns under test; omitted columns are empty. */
const ROWS: Row[] = [
  {
    Id: 1,
    Timestamp: '2026-11-15 12:00:00.000000000',
    Body: 'Connection refused by upstream host-7',
    ServiceName: 'api',
    SeverityNumber: 17,
    Duration: 500,
    Value: 1.5,
    IsError: true,
    Note: 'first',
    Score: 7,
    Level: 'warn',
    Day: '2026-11-15',
    Seconds: '2026-11-15 12:00:00',
    LogAttributes: { 'http.status': '500', 'http.method': 'GET', 'user-agent': 'curl/8' },
    ResourceAttributes: { 'k8s.pod.name': 'api-1' },
    Counters: { hits: 3 },
    'Events.Name': ['exception', 'retry'],
    'Events.Attributes': [{ type: 'IOError' }, { count: '12' }],
    Buckets: [1, 2, 300],
  },
  {
    Id: 2,
    Timestamp: '2026-11-15 23:59:59.500000000',
    Body: 'connected\nto the database 100% done, "quoted" text',
    ServiceName: 'API-gateway',
    SeverityNumber: 9,
    Duration: 1500,
    Value: -2,
    Note: '',
    Score: -1,
    Level: 'info',
    Day: '2026-11-15',
    Seconds: '2026-11-15 23:59:59',
    LogAttributes: { 'http.status': '1500', 'http.method': 'post', path: '/api/v1/users' },
    'Events.Name': ['start'],
    'Events.Attributes': [{ count: '5' }],
    Buckets: [5],
  },
  {
    Id: 3,
    Timestamp: '2026-11-16 00:00:00.000000000',
    Body: 'error: user_id=42 not found at http://example.com/a?b=1',
    ServiceName: 'worker',
    SeverityNumber: 17,
    Duration: 20,
    IsError: true,
    Day: '2026-11-16',
    Seconds: '2026-11-16 00:00:00',
    LogAttributes: { 'http.status': '99.5', ratio: '1e3', empty: '' },
    ResourceAttributes: { 'k8s.pod.name': 'worker-1' },
  },
  {
    Id: 4,
    Timestamp: '2026-11-17 08:30:00.000000000',
    Body: 'Größe überschritten für ERRORS in localhost:3000 C:\\temp 日本語',
    ServiceName: 'Worker_2',
    SeverityNumber: 0,
    Duration: 18446744073709551615n,
    Score: 0,
    Day: '2026-11-17',
    Seconds: '2026-11-17 08:30:00',
    LogAttributes: { 'http.status': 'not a number', 'http.method': "it's" },
  },
];

/** The same rows of another organization, which must never be visible. */
const OTHER_ORGANIZATION_ROWS: Row[] = ROWS.map((row) => ({ ...row, Id: row.Id + 100, ServiceName: 'theirs' }));

export interface ExpressionRows {
  /** Ids of the organization's rows that match; all of them without a condition. */
  matching(condition: Expression | undefined): number[];
  /** The value for one of the organization's rows, as the engine prints it in JSON. */
  readValue(sql: string, parameters: Record<string, unknown>, id?: number): unknown;
  /** The first cell of the result of any statement. */
  readFirstCell(sql: string, parameters?: Record<string, unknown>): string;
  close(): void;
}

/** A table in the real engine, read like tile queries: from a subquery with the organization's rows. */
export function openExpressionRows(): ExpressionRows {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-expressions-'));
  const session = new Session(join(directory, 'engine'));
  const columns = COLUMNS.map(([name, type]) => `\`${name}\` ${type}`).join(', ');
  session.query(`CREATE TABLE logs (${columns}) ENGINE = MergeTree ORDER BY (OrganizationId, ServiceName, Timestamp)`);
  for (const [organization, rows] of [
    ['ours', ROWS],
    ['theirs', OTHER_ORGANIZATION_ROWS],
  ] as const) {
    for (const row of rows)
      session.query(`INSERT INTO logs FORMAT JSONEachRow ${json({ ...row, OrganizationId: organization })}`);
  }

  const inner = "(SELECT * FROM logs WHERE OrganizationId = 'ours')";
  const readFirstCell = (sql: string, parameters: Record<string, unknown> = {}) =>
    session.queryBind(sql, parameters, 'TSVRaw').replace(/\n$/, '');

  return {
    readFirstCell,
    matching(condition) {
      const writer = createWriter();
      const where = condition ? writer.write(condition) : 'true';
      const ids = readFirstCell(
        `SELECT groupArray(Id) FROM (SELECT Id FROM ${inner} WHERE ${where} ORDER BY Id)`,
        writer.parameters,
      );
      return JSON.parse(ids) as number[];
    },
    readValue(sql, parameters, id = 1) {
      const row = session.queryBind(`SELECT ${sql} FROM ${inner} WHERE Id = ${id}`, parameters, 'JSONCompactEachRow');
      return (JSON.parse(row) as unknown[])[0];
    },
    close() {
      session.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function json(row: object): string {
  return JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
