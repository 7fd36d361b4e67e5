import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServiceLoadMetrics } from '../../src/observability/own-telemetry/service-load.ts';
import { createClient, type Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { type InProcessServer, openInProcessServer } from '../support/in-process-server.ts';

const MINUTE_MS = 60_000;
const nanos = (ms: number): string => `${ms}000000`;
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });

describe('dashboard templates', () => {
  let server: InProcessServer;
  const call = createClient(() => ({ url: server.url, dashboardUrl: server.url }));
  const now = Date.now();

  beforeAll(async () => {
    server = await openInProcessServer();
    const tokens = { method: 'POST', path: `/v1/organizations/${acme.id}/dashboardTokens`, key: acme.admin };
    const { token } = (await call({ ...tokens, body: { access: 'ingest' } })).json.result;
    const send = async (path: string, body: object) =>
      expect((await call({ method: 'POST', path, token, body })).json).toEqual({});
    const resource = { attributes: [text('service.name', 'checkout'), text('host.name', 'host-1')] };
    const span = (spanId: string, kind: number, attributes: object[], code = 0) => ({
      traceId: '5b8efff798038103d269b633813fc60c',
      spanId,
      name: 'GET /orders/{id}',
      kind,
      startTimeUnixNano: nanos(now - MINUTE_MS),
      endTimeUnixNano: nanos(now - MINUTE_MS + 20),
      attributes,
      status: { code },
    });
    await send('/v1/traces', {
      resourceSpans: [
        {
          resource,
          scopeSpans: [
            {
              spans: [
                span('00000000000000a1', 2, [text('http.route', '/orders/{id}')]),
                span('00000000000000a2', 2, [text('http.route', '/orders/{id}')], 2),
                span('00000000000000a3', 3, [text('db.system.name', 'postgresql')]),
              ],
            },
          ],
        },
      ],
    });
    await send('/v1/metrics', {
      resourceMetrics: [
        {
          resource,
          scopeMetrics: [
            {
              metrics: [
                {
                  name: 'system.cpu.utilization',
                  gauge: { dataPoints: [{ timeUnixNano: nanos(now - MINUTE_MS), asDouble: 0.25 }] },
                },
              ],
            },
          ],
        },
      ],
    });
    const loads = createServiceLoadMetrics({ engine: server.engine, log: { warn: () => {} } });
    const sample = { at: now - MINUTE_MS, memoryGb: 8, replicas: 3, cpuCores: 1.5, memoryBytes: 2 ** 30, queries: 4 };
    await loads.write([
      { organizationId: acme.id, serviceId: acme.primary, name: 'analytics', samples: [sample] },
      { organizationId: globex.id, serviceId: globex.id, name: 'others', samples: [sample] },
    ]);
  });
  afterAll(() => server.remove());

  const list = async (): Promise<Json[]> =>
    (await call({ path: '/api/v2/dashboard-templates', token: acme.token })).json.data;

  const readTile = async ({ id, name, x, y, w, h, ...tile }: Json): Promise<Json> => {
    const body = { ...tile, start: now - 10 * MINUTE_MS, end: now, timezone: 'UTC' };
    const {
      status,
      json,
      text: response,
    } = await call({
      method: 'POST',
      path: '/api/v2/charts/tile',
      token: acme.token,
      body,
    });
    expect(status, `${name}: ${response}`).toBe(200);
    return json.data;
  };

  it('can be created as they are, and every tile can be queried', async () => {
    const templates = await list();
    expect(templates.map(({ id }) => id)).toEqual(['http-services', 'databases', 'hosts', 'clickhouse-services']);
    for (const { dashboard } of templates) {
      const created = await call({ method: 'POST', path: '/api/v2/dashboards', token: acme.writer, body: dashboard });
      expect(created.status, created.text).toBe(200);
      expect(created.json.data.tiles).toHaveLength(dashboard.tiles.length);
      for (const tile of dashboard.tiles) await readTile(tile);
    }
  });

  it('show the spans of services, the calls of databases and the metrics of hosts', async () => {
    const tiles: Json = Object.fromEntries(
      (await list()).flatMap(({ id, dashboard }) => dashboard.tiles.map((tile: Json) => [`${id} ${tile.id}`, tile])),
    );
    expect((await readTile(tiles['http-services requests'])).value).toBe(2);
    expect((await readTile(tiles['http-services errors'])).value).toBe(0.5);
    expect((await readTile(tiles['databases calls'])).value).toBe(1);
    const [cpu] = (await readTile(tiles['hosts cpu'])).series;
    expect(JSON.stringify(cpu)).toContain('host-1');
  });

  it('show the load of the services of the organization only', async () => {
    const { dashboard } = (await list()).at(-1);
    for (const tile of dashboard.tiles.filter(({ id }: Json) => id !== 'out-of-memory')) {
      const names = (await readTile(tile)).series.map(({ group }: Json) => group);
      expect(names, tile.id).toEqual([['analytics']]);
    }
  });
});
