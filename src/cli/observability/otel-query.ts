import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../kernel/errors.ts';
import { limitTime } from '../../kernel/tasks/time-limit.ts';
import { MINUTE_MS, SECOND_MS, systemClock } from '../../kernel/time/clock.ts';
import { findErrorCode } from '../../platform/http/interfaces.ts';
import { CSRF_HEADER } from '../../platform/http/requests/cross-site.ts';
import { describeFailure } from '../connection/api.ts';
import { ID_ATTRIBUTE, TEST_METRIC, type TestRecords } from './otel-records.ts';

/** The server to query, with the key or the token that it lets in. */
interface ReaderOptions {
  url: string;
  /** `id:secret`. */
  key: string | undefined;
  /** Used instead of the key. */
  readToken: string | undefined;
}

/** Must be closed. */
export interface Reader {
  url: string;
  /** Resolves with the milliseconds until all records could be queried; throws if some cannot within `maxMs`. */
  waitFor(records: TestRecords, maxMs: number): Promise<number>;
  close(): Promise<void>;
}

type Headers = Readonly<Record<string, string>>;

const POLL_MS = 250;
const TIMEOUT_MS = 30 * SECOND_MS;

const SERIES = [
  { name: 'log', sourceId: 'logs', map: 'LogAttributes' },
  { name: 'span', sourceId: 'traces', map: 'SpanAttributes' },
  { name: 'data point', sourceId: 'metrics', map: 'Attributes', metricName: TEST_METRIC, metricDataType: 'gauge' },
];

/** Throws if the key is not valid. */
export async function openReader(options: ReaderOptions): Promise<Reader> {
  const { url } = options;
  const { headers, close } = await signIn(options);
  return {
    url,
    async waitFor(records, maxMs) {
      const startedAt = systemClock.monotonicMs();
      for (;;) {
        const missing = await listMissing(url, headers, records);
        const waitedMs = Math.round(systemClock.monotonicMs() - startedAt);
        if (missing.length === 0) return waitedMs;
        if (waitedMs >= maxMs) throw notFound(url, missing, maxMs);
        await delay(POLL_MS);
      }
    },
    close,
  };
}

const notFound = (url: string, missing: readonly string[], maxMs: number): AppError =>
  new AppError(
    'unavailable',
    `${missing.join(', ')} cannot be queried at ${url} after ${maxMs / SECOND_MS} seconds; does the token belong to the same organization as the key, and does the endpoint belong to this server?`,
  );

/** Dashboards are read with a token, or with the session of a key. */
async function signIn({
  url,
  key = '',
  readToken,
}: ReaderOptions): Promise<{ headers: Headers; close(): Promise<void> }> {
  if (readToken !== undefined) return { headers: { authorization: `Bearer ${readToken}` }, async close() {} };
  const [keyId = '', ...secret] = key.split(':');
  const response = await request(`${url}/console/session`, 'POST', {}, { keyId, keySecret: secret.join(':') });
  if (!response.ok) throw await toError(response, `${url} rejects the key`);
  const { csrf, access } = (await response.json()) as { csrf: string; access: string };
  const [cookie = ''] = response.headers.getSetCookie().map((text) => text.split(';', 1)[0] ?? '');
  const headers = { cookie, [CSRF_HEADER]: csrf };
  const close = async () => void (await request(`${url}/console/session`, 'DELETE', headers).catch(() => {}));
  if (access !== 'none') return { headers, close };
  await close();
  throw new AppError(
    'forbidden',
    `The key may not read dashboards, or ${url} does not serve /api/v2; without a key, the command only sends`,
  );
}

/** The names of the records that a query does not return. */
async function listMissing(url: string, headers: Headers, { id, sentAtMs }: TestRecords): Promise<string[]> {
  const response = await request(`${url}/api/v2/charts/series`, 'POST', headers, {
    startTime: sentAtMs - MINUTE_MS,
    endTime: sentAtMs + MINUTE_MS,
    series: SERIES.map(({ name: _, map, ...series }) => ({
      ...series,
      aggFn: 'count',
      where: `${map}['${ID_ATTRIBUTE}'] = '${id}'`,
      whereLanguage: 'sql',
    })),
  });
  if (!response.ok) throw await toError(response, `The records were accepted, but not queried: ${url}`);
  const { data } = (await response.json()) as { data: Record<string, unknown>[] };
  const isFound = (index: number) => data.some((row) => Number(row[`series_${index}.data`]) > 0);
  return SERIES.flatMap(({ name }, index) => (isFound(index) ? [] : [`the ${name}`]));
}

async function request(url: string, method: string, headers: Headers, body?: object): Promise<Response> {
  try {
    return await fetch(url, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal: limitTime(TIMEOUT_MS),
    });
  } catch (cause) {
    throw new AppError('unavailable', `${url} cannot be reached: ${describeFailure(cause as Error)}`, { cause });
  }
}

async function toError(response: Response, subject: string): Promise<AppError> {
  const text = await response.text();
  const [, message] = /"message":("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
  const code = findErrorCode(response.status);
  const reason = message === undefined ? `status ${response.status}` : (JSON.parse(message) as string);
  return new AppError(code === 'bad_request' ? 'conflict' : code, `${subject}: ${reason}`);
}
