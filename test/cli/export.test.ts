import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Json, listErrors, useStore } from '../support/cli.ts';
import { acme, fleet } from '../support/fleet.ts';
import { onEachStore } from '../support/server.ts';

const details = {
  provider: 'aws',
  region: 'eu-central-1',
  endpoints: [{ protocol: 'mysql', host: 'a.example', port: 3306, username: 'mysql4a' }],
  ipAccessList: [{ source: '10.0.0.0/8', description: 'Büro: "1" & more' }],
  isReadonly: false,
  idleTimeoutMinutes: 7.5,
  createdAt: '2026-01-02T03:04:05.678Z',
};

/** Values that are easy to lose in a round trip. */
const full: Json = structuredClone(fleet);
Object.assign(full.organizations[0].services[0], details);
Object.assign(full.organizations[0].keys[1], {
  ipAccessList: [{ source: '127.0.0.1' }],
  expireAt: '2030-01-01T00:00:00.250Z',
});
full.organizations[0].keys.push({
  name: 'ci',
  keyId: 'ExportCiKey',
  keySecret: 'a-long-secret',
  customRoles: ['scaler'],
});
Object.assign(full.organizations[0], {
  keepSqlLiterals: true,
  roles: [
    {
      name: 'scaler',
      policies: [{ allowDeny: 'DENY', permissions: ['instanceGet'], resources: [`instance/${acme.primary}`] }],
    },
    { name: 'empty' },
  ],
  sources: [
    {
      id: 'own',
      name: 'logs',
      kind: 'log',
      from: { databaseName: 'shop', tableName: 'events' },
      bodyExpression: 'Text',
    },
    { name: 'metrics', kind: 'metric', metricTables: { gauge: 'g', 'exponential histogram': 'e' } },
  ],
  dashboards: ['two', 'one', 'three'].map((name) => ({
    name,
    tiles: [
      { x: 0, y: 0, w: 1, h: 1, series: [{ type: 'markdown', content: 'yes\n---\n# "no": &a' }] },
      {
        x: 1,
        y: 0,
        w: 2,
        h: 1,
        series: [
          {
            type: 'number',
            aggFn: 'quantile',
            level: 0.95,
            field: 'Duration',
            numberFormat: { output: 'time', factor: 0.001 },
          },
        ],
      },
    ],
  })),
});

onEachStore('export', (store) => {
  const from = useStore(store);
  const to = useStore(store);

  it('F1: applying an export to the same store changes nothing, and to an empty store reproduces it', async () => {
    expect(await from.plan(full)).not.toEqual([]);
    const { stdout } = await from.run('export');
    expect(stdout).toContain('keepSqlLiterals: true');
    expect(await from.plan(stdout)).toEqual([]);
    expect(await from.plan(stdout, '--force', '--prune')).toEqual([]);
    expect((await from.run('export')).stdout).toBe(stdout);

    expect(await to.plan(stdout)).not.toEqual([]);
    expect((await to.run('export')).stdout).toBe(stdout);
  });

  it('remembers whether a service was created with a tier', async () => {
    const services = [{ name: 'explicit', kind: 'production' }];
    await from.plan({ organizations: [{ id: acme.id, name: 'Acme', services }] });
    expect((await from.run('service', 'create', '--org', acme.id, '--name', 'left out')).code).toBe(0);
    await to.plan((await from.run('export')).stdout);
    const { stdout } = await to.run('service', 'list', '--org', acme.id, '--json');
    const tiers = JSON.parse(stdout).map(({ name, tier }: Json) => [name, tier]);
    expect(Object.fromEntries(tiers)).toEqual({ 'left out': undefined, explicit: 'production' });
  });

  it('rejects a development service without a tier', async () => {
    const services = [{ name: 'sandbox', kind: 'development', isTierOmitted: true }];
    expect(listErrors(await from.apply({ organizations: [{ name: 'Acme', services }] }))).toEqual([
      'organizations[0].services[0].isTierOmitted: A development service must have a tier <boolean:true>',
    ]);
  });

  it('keeps a stable order, so that two exports can be compared', async () => {
    const cost = (day: number, computeCHC: number) => ({
      date: `2026-10-0${day}`,
      entityType: 'service',
      entityId: acme.primary,
      metrics: { computeCHC },
    });
    const file = (amount: number) => ({
      organizations: [
        {
          name: 'Acme',
          services: [{ id: acme.primary, name: 'analytics' }],
          dashboards: ['c', 'a', 'b'].map((id) => ({ id, name: id === 'a' ? `${amount}` : id })),
          usageCosts: [cost(3, 1), cost(1, amount), cost(2, 1)],
        },
      ],
    });
    for (const amount of [1, 2]) {
      await from.plan(file(amount));
      const { dashboards, usageCosts } = await from.exportFirstOrganization();
      expect(dashboards.map(({ id }: Json) => id)).toEqual(['a', 'b', 'c']);
      expect(usageCosts.map(({ date }: Json) => date)).toEqual(['2026-10-01', '2026-10-02', '2026-10-03']);
    }
  });

  it('prints the same as YAML and JSON, with hashes instead of credentials', async () => {
    await from.plan(full);
    const { stdout: yaml } = await from.run('export');
    const { stdout: json } = await from.run('export', '--json');
    expect(parse(yaml)).toEqual(JSON.parse(json));
    for (const secret of [acme.admin.keyId, acme.admin.keySecret, acme.token]) expect(yaml).not.toContain(secret);
    expect(JSON.parse(json).organizations[0].services[0]).toMatchObject(details);
  });
});
