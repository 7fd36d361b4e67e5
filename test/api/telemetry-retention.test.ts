import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unixTime } from '../../src/observability/own-telemetry/rows.ts';
import { listErrors, useStore } from '../support/cli.ts';
import { createClient } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { type InProcessServer, openInProcessServer } from '../support/in-process-server.ts';
import { onEachStore, useServer } from '../support/server.ts';

const DAY_MS = 86_400_000;
const path = `/v1/organizations/${acme.id}/telemetryRetention`;

onEachStore('the retention of telemetry', (store) => {
  const server = useServer(store, { args: ['--telemetry-retention', '60'] });
  const get = async (key = acme.admin) => (await server.call({ path, key })).json.result;
  const patch = (body: object, key = acme.admin) => server.call({ method: 'PATCH', path, key, body });

  it('is that of the server until it is changed', async () => {
    expect(await get()).toEqual({ logs: 60, traces: 60, metrics: 60, maximum: 60 });
  });

  it('is changed for each signal, and null is that of the server', async () => {
    expect((await patch({ logs: 7, traces: 3 })).json.result).toMatchObject({ logs: 7, traces: 3, metrics: 60 });
    expect((await patch({ traces: null })).json.result).toMatchObject({ logs: 7, traces: 60, metrics: 60 });
    expect(await get(acme.developer)).toMatchObject({ logs: 7, traces: 60 });
    const { json } = await server.call({ path: `/v1/organizations/${acme.id}/activities`, key: acme.admin });
    expect(json.result[0]).toMatchObject({ type: 'organization_update_name', organizationId: acme.id });
  });

  it.each([
    [{ logs: 61 }, 'request body.logs: The value must be at most 60, the retention of the server'],
    [{ logs: 0 }, 'request body.logs'],
    [{ metrics: 1.5 }, 'request body.metrics'],
    [{ profiles: 3 }, 'request body.profiles'],
  ])('rejects %j', async (body, message) => {
    const { status, json } = await patch(body);
    expect([status, json.error]).toEqual([400, expect.stringContaining(message)]);
  });

  it('R1: is read by developers and changed by admins of the organization only', async () => {
    expect((await patch({ logs: 5 }, acme.developer)).status).toBe(403);
    expect((await patch({ logs: 5 }, globex.admin)).status).toBe(404);
  });
});

describe('rows that are older than the retention of their organization', () => {
  let server: InProcessServer;
  const days = [1, 4, 8, 20];
  beforeAll(async () => {
    server = await openInProcessServer();
    const rows = [acme, globex].flatMap(({ id }) =>
      days.map((age) => ({ OrganizationId: id, Timestamp: unixTime(Date.now() - age * DAY_MS), Body: `${age} days` })),
    );
    await server.engine.insert('otel_logs', rows);
    await server.engine.insert(
      'otel_traces',
      rows.map(({ Body, ...row }) => ({ ...row, SpanName: Body })),
    );
  });
  afterAll(() => server.remove());

  const count = async (table: string, organizationId: string): Promise<unknown> => {
    const sql = `SELECT count() FROM pilothouse.${table} WHERE OrganizationId = {organizationId:String}`;
    return (await server.engine.query({ sql, parameters: { organizationId } }))[0]?.[0];
  };

  it('are removed, and those of others stay', async () => {
    const call = createClient(() => ({ url: server.url, dashboardUrl: server.url }));
    const { status } = await call({ method: 'PATCH', path, key: acme.admin, body: { logs: 5 } });
    expect(status).toBe(200);
    await server.domains.retention.run();
    expect(await count('otel_logs', acme.id)).toBe(2);
    expect(await count('otel_traces', acme.id)).toBe(days.length);
    expect(await count('otel_logs', globex.id)).toBe(days.length);
    // Nothing is left to remove.
    await server.domains.retention.run();
    expect(await count('otel_logs', acme.id)).toBe(2);
  });
});

describe('a fleet file', () => {
  const at = useStore('libsql');
  const declare = (telemetryRetention?: object) => ({
    organizations: [{ id: acme.id, name: 'Acme', ...(telemetryRetention && { telemetryRetention }) }],
  });

  it('sets the retention of telemetry, exports it, resets it and rejects other signals', async () => {
    expect(await at.plan(declare({ logs: 7 }))).toEqual(['add organization Acme']);
    expect((await at.exportFirstOrganization()).telemetryRetention).toEqual({ logs: 7 });
    expect(await at.plan(declare({ logs: 7 }))).toEqual([]);
    expect(await at.plan(declare())).toEqual([]);
    expect(await at.plan(declare({}))).toEqual(['change organization Acme']);
    expect(await at.exportFirstOrganization()).not.toHaveProperty('telemetryRetention');
    expect(listErrors(await at.apply(declare({ profiles: 7 })))).toEqual([expect.stringContaining('profiles')]);
    expect(listErrors(await at.apply(declare({ logs: 0 })))).toEqual([expect.stringContaining('logs')]);
  });
});
