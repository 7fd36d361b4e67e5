import { expect, it } from 'vitest';
import { getServerStore } from '../support/cli.ts';
import { acme, fleet } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

onEachStore('services in the fleet file and in metrics', (store) => {
  const server = useServer(store, { args: ['--simulated-transition', '0ms'] });
  const organization = `/v1/organizations/${acme.id}`;
  const call = (method: string, path: string, body?: object) =>
    server.call({ method, path: `${organization}${path}`, key: acme.admin, ...(body ? { body } : {}) });

  it('F1: a service created over the API survives an apply, and an export carries it', async () => {
    const wanted = { name: 'created', provider: 'aws', region: 'us-east-1', tags: [{ key: 'team', value: 'data' }] };
    const { service, password } = (await call('POST', '/services', wanted)).json.result;
    const path = `/services/${service.id}`;
    await call('PATCH', `${path}/backupConfiguration`, { backupStartTime: '03:30' });
    await call('POST', `${path}/scalingSchedule`, {
      entries: [{ name: 'night', weekdays: [1], startHourUtc: 22, endHourUtc: 6, idleScaling: true }],
    });
    const { result: key } = (await call('GET', '/keys')).json;
    await call('POST', `${path}/serviceQueryEndpoint`, { roles: ['sql_console_admin'], openApiKeys: [key[0].id] });
    await call('PATCH', `${path}/state`, { command: 'stop' });

    const commands = getServerStore(server);
    expect(await commands.plan(fleet)).toEqual([]);
    expect(await commands.plan(fleet, '--force')).toEqual([]);
    expect((await call('GET', path)).json.result).toMatchObject({ ...wanted, state: 'stopped' });
    const exported = await commands.exportFirstOrganization();
    const copy = exported.services.find(({ id }: { id: string }) => id === service.id);
    expect(copy).toMatchObject({
      ...wanted,
      driver: 'simulated',
      state: 'stopped',
      passwordHash: expect.stringMatching(/^.{43}=$/),
      backupConfiguration: { backupStartTime: '03:30' },
      scalingSchedule: [{ name: 'night' }],
      serviceQueryEndpoint: { roles: ['sql_console_admin'] },
    });
    expect(JSON.stringify(exported)).not.toContain(password);
    expect(await commands.plan({ organizations: [exported] }, '--force')).toEqual([]);
    const started = { ...exported, services: [{ ...copy, state: 'running' }] };
    expect(await commands.plan({ organizations: [started] })).toEqual(['change service created']);
    expect((await call('GET', path)).json.result.state).toBe('running');
  });

  it('metrics have the state, the size and the cost of a service', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const cost = { date: today, entityType: 'service', entityId: acme.secondary, metrics: { computeCHC: 1.5 } };
    const [first, ...others] = fleet.organizations;
    const changed = { organizations: [{ ...first, usageCosts: [...(first?.usageCosts ?? []), cost] }, ...others] };
    expect(await getServerStore(server).plan(changed)).toEqual([`add cost ${today} reader`]);
    const { status, headers, text } = await call('GET', `/services/${acme.secondary}/prometheus`);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    const labels = `clickhouse_org="${acme.id}",clickhouse_service="${acme.secondary}",clickhouse_service_name="reader"`;
    for (const line of [
      `ClickHouse_ServiceInfo{${labels},clickhouse_cluster_status="running",clickhouse_version="",driver="simulated"} 1`,
      `pilothouse_service_running_replicas{${labels}} 2`,
      `pilothouse_service_replicas{${labels},bound="max"} 2`,
      `pilothouse_service_replica_memory_gigabytes{${labels},bound="min"} 16`,
      `pilothouse_service_idle_timeout_seconds{${labels}} 900`,
      `pilothouse_service_cost_month_to_date_chc{${labels},metric="compute"} 1.5`,
    ])
      expect(text.split('\n')).toContain(line);
    expect(text).not.toContain(acme.primary);
    const all = await call('GET', '/prometheus?filtered_metrics=true');
    for (const id of [acme.primary, acme.secondary, acme.development]) expect(all.text).toContain(id);
    expect((await call('GET', '/prometheus?filtered_metrics=1')).status).toBe(400);
  });

  it('an organization without services has no metrics', async () => {
    const commands = getServerStore(server);
    const key = { keyId: 'EmptyAdminKey0000001', keySecret: 'empty-admin-secret' };
    const empty = { name: 'Empty', keys: [{ name: 'admin', ...key, roles: ['admin'] }] };
    await commands.plan({ organizations: [...fleet.organizations, empty] });
    const [{ id }] = (await server.call({ path: '/v1/organizations', key })).json.result;
    const { status, text } = await server.call({ path: `/v1/organizations/${id}/prometheus`, key });
    expect([status, text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))]).toEqual([200, []]);
  });

  it('the discovery has one target for each service', async () => {
    const { json } = await call('GET', '/prometheus/discovery');
    const services = (await call('GET', '/services')).json.result;
    expect(json).toHaveLength(services.length);
    const { host } = new URL(server.url);
    expect(json[0]).toEqual({
      targets: [host],
      labels: {
        __scheme__: 'http',
        __metrics_path__: `${organization}/services/${services[0].id}/prometheus`,
        clickhouse_org_id: acme.id,
        clickhouse_service_id: services[0].id,
        clickhouse_discovery_service_name: services[0].name,
      },
    });
  });
});
