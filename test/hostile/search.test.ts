import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ApiResponse, Json } from '../support/client.ts';
import { fillEngine } from '../support/engine.ts';
import { openEventStream } from '../support/event-stream.ts';
import { acme, globex } from '../support/fleet.ts';
import { TROUBLESOME } from '../support/hostile.ts';
import { useServer } from '../support/server.ts';
import { HOSTILE_EXPRESSIONS } from './expressions.ts';
import { createRandom, type Random } from './random.ts';

const T0 = Math.floor(Date.now() / 86_400_000 - 1) * 86_400_000 + 10 * 3_600_000;
const SECRET = 'globex-secret-needle';
/** `npm run hostile` sends 5,000 requests, `npm test` a part of them. */
const REQUESTS = process.env.HOSTILE_REQUESTS === undefined ? 300 : 5000;
const SEED = Number(process.env.HOSTILE_SEED ?? 12);

const row = (OrganizationId: string, text: string, ms: number) => ({
  OrganizationId,
  Timestamp: new Date(T0 + ms).toISOString(),
  ServiceName: text,
  Body: text,
  LogAttributes: { ms: '5', user: text },
  ResourceAttributes: { 'host.name': text },
});

const list = (language: string) =>
  HOSTILE_EXPRESSIONS.filter((one) => one.language === language).map(({ text }) => text);
const EXPRESSIONS = { lucene: list('lucene'), sql: list('sql'), field: [...list('field'), ...list('groupBy')] };
const TIMES = [T0 - 60_000, T0, T0 + 3_600_000].map((ms) => new Date(ms).toISOString());
const WILD_TIMES = [
  ...TIMES,
  '',
  '1970-01-01T00:00:00Z',
  '2261-12-31T23:59:59.999999999Z',
  '9999-01-01T00:00:00Z',
  'x',
];
const COLUMNS = ['Body', 'Timestamp', '*', "LogAttributes['user'] AS u", 'upper(Body)', 'OrganizationId', 'length(*)'];

/** The text of an expression, sometimes damaged. */
function chooseText(random: Random, plain: readonly string[], hostile: readonly string[]): string {
  if (random.chance(0.3)) return random.pick(plain);
  const text = random.pick(hostile);
  if (random.chance(0.7)) return text;
  const at = random.integer(0, text.length);
  return (
    text.slice(0, at) +
    random.pick(["'", '"', '`', '(', ')', ',', ' AS ', ' DESC', ';', '--', '\\', '\u0000', '\ud800']) +
    text.slice(at)
  );
}

const chooseWild = (random: Random): unknown => random.pick(TROUBLESOME);

function createMatching(random: Random): Record<string, unknown> {
  const whereLanguage = random.pick(['lucene', 'sql'] as const);
  const filters = Array.from({ length: random.integer(0, 2) }, () => ({
    type: 'sql',
    condition: chooseText(random, ["ServiceName IN ('ours')"], EXPRESSIONS.sql),
  }));
  return {
    sourceId: random.pick(['logs', 'logs', 'logs', 'traces', 'pilothouse-logs', 'metrics', 'nothing']),
    where: chooseText(random, ['', 'ours'], EXPRESSIONS[whereLanguage]),
    whereLanguage,
    ...(random.chance(0.3) && { filters }),
    ...(random.chance(0.8) && { startTime: random.pick(WILD_TIMES), endTime: random.pick(WILD_TIMES) }),
  };
}

/** One or two members have a value of any kind. */
function damage(random: Random, body: Record<string, unknown>): Record<string, unknown> {
  if (random.chance(0.6)) return body;
  return { ...body, [random.pick([...Object.keys(body), 'cursor', 'id', 'extra'])]: chooseWild(random) };
}

const columns = (random: Random) => chooseText(random, COLUMNS, EXPRESSIONS.field);

const KINDS: Record<string, (random: Random, cursors: readonly string[]) => Record<string, unknown>> = {
  search: (random, cursors) => ({
    ...createMatching(random),
    ...(random.chance(0.5) && { select: columns(random) }),
    ...(random.chance(0.2) && { orderBy: `${columns(random)} ${random.pick(['', 'ASC', 'DESC', 'NULLS FIRST'])}` }),
    ...(random.chance(0.3) && { maxResults: random.integer(1, 3) }),
    ...(random.chance(0.1) && { offset: random.integer(0, 10_000) }),
    ...(random.chance(0.2) && { maxWaitMs: random.integer(100, 500) }),
    ...(random.chance(0.2) && { withIds: true }),
    ...(random.chance(0.3) && { cursor: chooseText(random, ['start', 'x'], ['start', ...cursors]) }),
  }),
  'search/histogram': (random) => ({
    ...createMatching(random),
    ...(random.chance(0.3) && { granularity: random.pick(['1s', '1m', '1d', 'auto', 'x']) }),
    ...(random.chance(0.3) && { timezone: random.pick(['UTC', 'Asia/Tokyo', '../x']) }),
  }),
  'search/facets': (random) => {
    const { sourceId, startTime, endTime } = createMatching(random) as Record<string, unknown>;
    return { sourceId, ...(startTime !== undefined && { startTime, endTime }) };
  },
  'search/facets/values': (random) => ({
    ...createMatching(random),
    fields: Array.from({ length: random.integer(1, 3) }, () => columns(random)),
    ...(random.chance(0.5) && { limit: random.integer(1, 500) }),
  }),
  'search/context': (random) => ({
    ...createMatching(random),
    time: random.pick(WILD_TIMES),
    ...(random.chance(0.5) && { rangeMs: random.integer(100, 900_000) }),
    ...(random.chance(0.5) && { scope: random.pick(['all', 'service', 'host', 'pod', 'x']) }),
    ...(random.chance(0.5) && {
      value: chooseText(random, ['ours', SECRET], ["' OR 1 OR '", '\\', "\\' OR 1 --", "''"]),
    }),
    ...(random.chance(0.5) && { select: columns(random) }),
  }),
  'search/export': (random) => ({
    ...createMatching(random),
    format: random.pick(['ndjson', 'csv', 'x']),
    limit: random.integer(1, 100),
  }),
  'search/tail': (random) => {
    const { startTime, endTime, ...matching } = createMatching(random);
    return { ...matching, ...(random.chance(0.5) && { select: columns(random) }) };
  },
  'saved-searches': (random) => ({
    ...createMatching(random),
    name: random.pick(['x', ' ', 'ünïcödé']),
    filters: [{ type: 'sql', condition: chooseText(random, ["a IN ('x')"], EXPRESSIONS.sql) }],
  }),
};

describe('hostile searches', () => {
  const server = useServer('libsql');
  const post = (path: string, body: unknown, token = acme.writer): Promise<ApiResponse> =>
    server.call({ method: 'POST', path: `/api/v2/${path}`, token, body });

  /** Opens a live tail and closes it when it has started. */
  async function follow(body: object): Promise<Pick<ApiResponse, 'status' | 'text' | 'json'>> {
    const url = `${server.url}/api/v2/search/tail`;
    const { response, events, close } = await openEventStream(url, { authorization: `Bearer ${acme.writer}` }, body);
    const text = response.ok ? JSON.stringify(events) : await response.text();
    await close();
    return { status: response.status, text, json: undefined };
  }

  beforeAll(async () => {
    await fillEngine(join(server.directory, 'data'), {
      otel_logs: [
        ...[0, 0, 1, 2, 3].map((ms) => row(acme.id, 'ours', ms)),
        ...[0, 1, 2, 3].map((ms) => row(globex.id, SECRET, ms)),
      ],
    });
  });

  const range = { startTime: TIMES[0], endTime: TIMES[2] };

  it(`none of ${REQUESTS} reads another organization or causes a failure`, async () => {
    const random = createRandom(SEED);
    const cursors: string[] = [];
    const statuses: Record<number, number> = {};
    for (let count = 0; count < REQUESTS; count++) {
      const kind = random.pick(Object.keys(KINDS));
      const body = damage(random, KINDS[kind]?.(random, cursors) ?? {});
      const response = kind === 'search/tail' ? await follow(body) : await post(kind, body);
      const about = `${kind} ${JSON.stringify(body).slice(0, 500)}: ${response.text.slice(0, 300)}`;
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
      expect([200, 400, 404, 409], about).toContain(response.status);
      const isEchoed = JSON.stringify(body).includes(SECRET);
      expect(response.text.includes(SECRET) && !isEchoed, about).toBe(false);
      if (response.status !== 200) expect(response.text, about).not.toMatch(/root:|chdb|Stack trace|DB::/);
      const cursor = (response.json as Json)?.nextCursor;
      if (typeof cursor === 'string') cursors.push(cursor);
    }
    expect(statuses[200], JSON.stringify(statuses)).toBeGreaterThan(REQUESTS / 20);
    const { json } = await post('search', { sourceId: 'logs', ...range, select: 'Body' });
    expect(json.data).toEqual(Array(5).fill({ Body: 'ours' }));
  }, 1_200_000);

  it('a cursor or an id of another organization reads own rows only', async () => {
    const body = { sourceId: 'logs', ...range, select: 'Body', maxResults: 1, withIds: true };
    const theirs = await post('search', body, globex.token);
    expect(theirs.json.data).toEqual([{ Body: SECRET }]);
    const continued = await post('search', { ...body, cursor: theirs.json.nextCursor, maxResults: 100 });
    expect(continued.status).toBe(200);
    expect(continued.text).not.toContain(SECRET);
    const byId = await post('search', { sourceId: 'logs', id: theirs.json.ids[0] });
    expect(byId.json.data).toEqual([]);
    const around = await post('search/context', { sourceId: 'logs', time: TIMES[1], scope: 'service', value: SECRET });
    expect(around.json.data).toEqual([]);
  });
});
