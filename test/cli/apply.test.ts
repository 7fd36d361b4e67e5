import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listErrors, useStore } from '../support/cli.ts';
import { acme, fleet } from '../support/fleet.ts';
import { onEachStore } from '../support/server.ts';

const count = fleet.organizations.flatMap((organization) => [
  organization,
  ...Object.values(organization).flatMap((member) => (Array.isArray(member) ? member : [])),
]).length;
const secrets = [acme.admin.keySecret, acme.developer.keySecret, acme.token];

onEachStore('apply', (store) => {
  const at = useStore(store);

  it('F1: prints additions, changes and unchanged resources; applying a file twice changes nothing', async () => {
    const first = await at.apply(fleet);
    expect(first.code, first.stderr).toBe(0);
    expect(first.stdout).toContain('+ organization Acme\n+ service analytics\n');
    expect(first.stdout).toContain(`Applied: ${count} added, 0 changed, 0 removed, 0 unchanged.`);
    for (const secret of secrets) expect(first.stdout + first.stderr).not.toContain(secret);

    const second = await at.apply(fleet);
    expect(second).toEqual({
      code: 0,
      stdout: `Applied: 0 added, 0 changed, 0 removed, ${count} unchanged.\n`,
      stderr: '',
    });

    const renamed = structuredClone(fleet);
    Object.assign(renamed.organizations[0]?.services[0] ?? {}, { name: 'reports', numReplicas: 4 });
    const third = await at.apply(renamed);
    expect(third.stdout).toBe(
      `~ service reports\n    name: "analytics" → "reports"\n    numReplicas: 3 → 4\nApplied: 0 added, 1 changed, 0 removed, ${count - 1} unchanged.\n`,
    );
  });

  it('--dry-run prints the same plan and stores nothing', async () => {
    const { code, stdout } = await at.apply(fleet, '--dry-run');
    expect(code).toBe(0);
    expect(stdout).toContain(`Plan: ${count} added, 0 changed, 0 removed, 0 unchanged. Nothing was stored.`);
    expect(await at.exportFirstOrganization()).toBeUndefined();
    expect(await at.plan(fleet)).toHaveLength(count);
  });

  it('--json prints one object with every step, including unchanged ones, and no credential or hash', async () => {
    const { stdout } = await at.apply(fleet, '--json', '--dry-run');
    const { dryRun, steps, warnings } = JSON.parse(stdout);
    expect({ dryRun, warnings }).toEqual({ dryRun: true, warnings: [] });
    expect(steps.filter(({ kind }: { kind: string }) => kind === 'key')[0]).toMatchObject({
      action: 'add',
      organizationId: acme.id,
      name: 'admin',
      after: { keySuffix: '0001', roles: ['admin'] },
    });
    expect(stdout).not.toContain('Hash');
    for (const secret of secrets) expect(stdout).not.toContain(secret);
    await at.apply(fleet);
    const again = JSON.parse((await at.apply(fleet, '--json')).stdout);
    expect(again.dryRun).toBe(false);
    expect(again.steps.map(({ action }: { action: string }) => action)).toEqual(Array(count).fill('unchanged'));
  });

  it('F2: lists every schema violation with its path and opens nothing', async () => {
    const wrong = {
      organizations: [
        {
          name: 'Acme',
          tier: 'GOLD',
          plan: 'x',
          services: [
            { name: 'fine' },
            { name: '' },
            {
              name: 'a',
              numReplicas: 21,
              minTotalMemoryGb: 32,
              maxTotalMemoryGb: 12,
              idleTimeoutMinutes: 4,
              isPrimary: 'yes',
              size: 3,
            },
          ],
          keys: [{ roles: [] }, { roles: ['owner'], expireAt: 'tomorrow', ipAccessList: [{ source: '127.1' }] }],
          dashboards: [{ name: 'd', tiles: [{ x: 24, y: 0, w: 0, h: 1, series: [] }] }],
          usageCosts: [
            {
              date: '2026-02-30',
              entityType: 'service',
              entityId: 'x',
              metrics: { computeCHC: 0.1234567, rentCHC: 1 },
            },
          ],
        },
        { services: [] },
      ],
      extra: true,
    };
    const finished = await at.apply(wrong);
    expect(finished.code).toBe(2);
    expect(
      listErrors(finished)
        .map((line) => line.split(': ')[0])
        .sort(),
    ).toEqual([
      'extra',
      'organizations[0].dashboards[0].tiles[0].series',
      'organizations[0].dashboards[0].tiles[0].w',
      'organizations[0].dashboards[0].tiles[0].x',
      'organizations[0].keys[0].roles',
      'organizations[0].keys[1].expireAt',
      'organizations[0].keys[1].ipAccessList[0].source',
      'organizations[0].keys[1].roles[0]',
      'organizations[0].plan',
      'organizations[0].services[1].name',
      'organizations[0].services[2].idleTimeoutMinutes',
      'organizations[0].services[2].isPrimary',
      'organizations[0].services[2].maxTotalMemoryGb',
      'organizations[0].services[2].minTotalMemoryGb',
      'organizations[0].services[2].numReplicas',
      'organizations[0].services[2].size',
      'organizations[0].tier',
      'organizations[0].usageCosts[0].date',
      'organizations[0].usageCosts[0].entityId',
      'organizations[0].usageCosts[0].metrics.computeCHC',
      'organizations[0].usageCosts[0].metrics.rentCHC',
      'organizations[1].name',
    ]);
    expect(listErrors(finished)).toContain(
      'organizations[0].services[2].numReplicas: The value must be at most 20 <number:21>',
    );
    expect(existsSync(join(at.directory, 'data'))).toBe(false);
  });

  it('F2: lists all violations of rules across resources and stores nothing', async () => {
    const warehouse = acme.warehouse;
    const wrong = {
      organizations: [
        {
          name: 'Paid',
          paid: true,
          services: [
            { name: 'one', dataWarehouseId: warehouse, isPrimary: true },
            { name: 'two', dataWarehouseId: warehouse, isPrimary: true },
            { name: 'small', numReplicas: 1 },
            { name: 'upside', minTotalMemoryGb: 120, maxTotalMemoryGb: 60 },
          ],
          dashboards: [
            {
              name: 'd',
              tiles: [{ x: 20, y: 0, w: 6, h: 1, series: [{ type: 'time' }, { type: 'markdown', content: '' }] }],
            },
          ],
          usageCosts: [{ date: '2026-10-01', entityType: 'service', entityId: acme.primary }],
        },
        { name: 'Unpaid', services: [{ name: 'big', maxTotalMemoryGb: 372 }] },
        { name: 'Basic', tier: 'BASIC', services: [{ name: 'wide', numReplicas: 2 }] },
      ],
    };
    const finished = await at.apply(wrong);
    expect(finished.code).toBe(2);
    expect(listErrors(finished).sort()).toEqual([
      'organizations[0].dashboards[0].tiles[0].series: All series of a tile must have the same type <array>',
      'organizations[0].dashboards[0].tiles[0].series[0].aggFn: The value is required for type time <missing>',
      'organizations[0].dashboards[0].tiles[0].w: The tile must end within 24 columns <number:26>',
      'organizations[0].services[0].isPrimary: The warehouse already has a first service, two <boolean:true>',
      'organizations[0].services[1].isPrimary: The warehouse already has a first service, one <boolean:true>',
      'organizations[0].services[2].numReplicas: The first service of a warehouse must have at least 2 replicas <number:1>',
      'organizations[0].services[3].minTotalMemoryGb: The minimum of 40 GB per replica must not exceed the maximum of 20 GB <number:120>',
      'organizations[0].usageCosts[0].dataWarehouseId: The value is required for a service that does not exist in this organization <missing>',
      'organizations[1].services[0].maxTotalMemoryGb: A non-paid organization may have at most 120 GB per replica, 360 GB in total <number:372>',
      'organizations[2].services[0].numReplicas: A service of a BASIC organization has exactly 1 replica <number:2>',
    ]);
    expect(await at.exportFirstOrganization()).toBeUndefined();
  });

  it('B3: rejects a dashboard of more than 2 MiB', async () => {
    const series = [{ type: 'markdown', content: 'x'.repeat(50_000) }];
    const tiles = Array.from({ length: 42 }, (_, y) => ({ x: 0, y, w: 1, h: 1, series }));
    const finished = await at.apply({ organizations: [{ name: 'Acme', dashboards: [{ name: 'd', tiles }] }] });
    expect([finished.code, listErrors(finished)]).toEqual([
      2,
      [expect.stringContaining('dashboards[0].tiles: must not make the dashboard larger than 2 MiB as JSON')],
    ]);
  });

  it('F2: rejects an id or credential of another organization and stores nothing', async () => {
    await at.apply(fleet);
    const before = await at.exportFirstOrganization();
    for (const own of [
      { services: [{ id: acme.primary, name: 'theirs' }] },
      { keys: [{ name: 'theirs', ...acme.admin }] },
      { dashboardTokens: [{ name: 'theirs', token: acme.token }] },
    ]) {
      const finished = await at.apply({ organizations: [{ name: 'Other', ...own }] });
      expect(finished.code, finished.stderr).toBe(1);
      expect(listErrors(finished)[0]).toMatch(/another organization already has|has the key id of another key/);
    }
    expect(await at.exportFirstOrganization()).toEqual(before);
    expect((await at.run('org', 'list')).stdout).not.toContain('Other');
  });

  it('D5: warns about an unknown source and applies the file', async () => {
    const series = [{ type: 'number', aggFn: 'count', sourceId: 'nowhere' }];
    const tiles = [{ x: 0, y: 0, w: 1, h: 1, series }];
    const { code, stderr } = await at.apply({ organizations: [{ name: 'Acme', dashboards: [{ name: 'd', tiles }] }] });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'warning: organizations[0].dashboards: the source nowhere does not exist\n',
    });
    const known = {
      name: 'Acme',
      sources: [{ id: 'nowhere', name: 'logs', kind: 'log' }],
      dashboards: [{ name: 'other', tiles }],
    };
    expect((await at.apply({ organizations: [known] })).stderr).toBe('');
  });
});
