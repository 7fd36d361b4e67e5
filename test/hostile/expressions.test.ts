import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { fillEngine } from '../support/engine.ts';
import { onEachStoreInLongRuns, type StoreName, useServer } from '../support/server.ts';
import { HOSTILE_EXPRESSIONS, type HostileExpression } from './expressions.ts';

const T0 = Math.floor(Date.now() / 86_400_000 - 1) * 86_400_000 + 10 * 3_600_000;
const SECRET = 'globex-secret-needle';

const acme = { id: '11111111-2222-4333-8444-555555555555', token: 'acme-token' };
const globex = { id: '22222222-2222-4333-8444-555555555555', token: 'globex-token' };
const fleet = {
  organizations: [acme, globex].map(({ id, token }, index) => ({
    id,
    name: `org ${index}`,
    tier: 'SCALE',
    paid: true,
    dashboardTokens: [{ name: 'wall', token }],
  })),
};

const row = (OrganizationId: string, text: string) => ({
  OrganizationId,
  Timestamp: new Date(T0).toISOString(),
  ServiceName: text,
  Body: text,
  LogAttributes: { ms: '5', user: text },
});

const base = { sourceId: 'traces', aggFn: 'count', where: '', groupBy: [] as string[] };
function seriesWith({ language, text }: HostileExpression): object {
  const logs = { ...base, sourceId: 'logs' };
  if (language === 'field') return { ...logs, aggFn: 'any', field: text };
  if (language === 'groupBy') return { ...logs, groupBy: [text] };
  return { ...logs, where: text, whereLanguage: language };
}

/** The engine decides, so `npm test` sends a few of them to the server on PostgreSQL; `npm run hostile` sends all. */
const listExpressions = (store: StoreName) =>
  store === 'libsql' || process.env.HOSTILE_REQUESTS !== undefined
    ? HOSTILE_EXPRESSIONS
    : HOSTILE_EXPRESSIONS.filter((_, index) => index % 9 === 0);

onEachStoreInLongRuns('hostile expressions over HTTP', (store) => {
  const expressions = listExpressions(store);
  const server = useServer(store, { fleet });

  beforeAll(async () => {
    await fillEngine(join(server.directory, 'data'), {
      otel_logs: [row(acme.id, 'ours'), row(acme.id, 'ours too'), row(globex.id, SECRET)],
    });
  });

  const querySeries = (series: object) =>
    server.call({
      method: 'POST',
      path: '/api/v2/charts/series',
      token: acme.token,
      body: { startTime: T0, endTime: T0 + 60_000, granularity: '1m', series: [series] },
    });

  const previewTile = (series: object) =>
    server.call({
      method: 'POST',
      path: '/api/v2/charts/tile',
      token: acme.token,
      body: { start: T0, end: T0 + 60_000, granularity: '1m', series: [series] },
    });
  const expectNoLeak = ({ text }: { text: string }, attempt: HostileExpression, about: string) => {
    expect(text.includes(SECRET) && !attempt.text.includes(SECRET), about).toBe(false);
    expect(text, about).not.toMatch(/root:|ClickHouse|chdb|Stack trace|DB::/);
  };

  // One test for all expressions; the message names the one that failed.
  it(`none of ${expressions.length} reads another organization or causes a failure`, async () => {
    for (const attempt of expressions) {
      const { status, text, json } = await querySeries(seriesWith(attempt));
      const about = `${attempt.name} (${attempt.language}): ${text.slice(0, 300)}`;
      expect([200, 400], about).toContain(status);
      if (attempt.outcome === 'rejected') expect(status, about).toBe(400);
      expectNoLeak({ text }, attempt, about);
      const counted = (json.data ?? []).map((one: Record<string, unknown>) => one['series_0.data']);
      for (const value of counted) if (typeof value === 'number') expect(value, about).toBeLessThanOrEqual(2);
    }
    expect((await querySeries({ ...base, sourceId: 'logs' })).json.data).toEqual([
      { ts_bucket: T0, group: [], 'series_0.data': 2 },
    ]);
  }, 120_000);

  it('none does so in a preview of a tile of any type', async () => {
    for (const [index, attempt] of expressions.entries()) {
      const type = ['time', 'table', 'number', 'search'][index % 4] as string;
      const series = { ...seriesWith(attempt), type, ...(type === 'search' ? { fields: [] } : {}) };
      const response = await previewTile(series);
      const about = `${attempt.name} (${attempt.language}, ${type}): ${response.text.slice(0, 300)}`;
      expect([200, 400], about).toContain(response.status);
      // Searches ignore the field; searches and numbers ignore groups.
      const isRead = attempt.language === 'lucene' || attempt.language === 'sql' || type === 'time' || type === 'table';
      if (attempt.outcome === 'rejected' && isRead) expect(response.status, about).toBe(400);
      expectNoLeak(response, attempt, about);
    }
    for (const { name, text } of expressions.filter(({ language }) => language === 'field')) {
      const response = await previewTile({ type: 'search', sourceId: 'logs', fields: [text] });
      expect([200, 400], `${name}: ${response.text.slice(0, 300)}`).toContain(response.status);
      expect(response.text, name).not.toContain(SECRET);
    }
  }, 120_000);
});
