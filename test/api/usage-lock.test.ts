import { expect, it, vi } from 'vitest';
import { cli } from '../support/cli.ts';
import type { Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

// Starts an engine.
vi.setConfig({ testTimeout: 120_000 });

const DAY_MS = 86_400_000;
const toDay = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
const organization = `/v1/organizations/${acme.id}`;
const path = `${organization}/usageLock`;
const DAY = toDay(3);

type Owner = Pick<typeof acme, 'id' | 'admin' | 'primary'>;

onEachStore('locking days over the API, beside a running server', (store) => {
  const server = useServer(store);
  const lock = (body: unknown, key = acme.admin) => server.call({ method: 'POST', path, key, body });
  const send = (id: string, owner: Owner = acme) =>
    server.call({
      method: 'POST',
      path: `/v1/organizations/${owner.id}/usageEvents`,
      key: owner.admin,
      body: [
        {
          id,
          source: 'test',
          time: `${DAY}T10:00:00Z`,
          entityType: 'service',
          entityId: owner.primary,
          meter: 'compute',
          quantity: 60,
        },
      ],
    });
  const readCosts = async (owner: Owner = acme): Promise<Json[]> => {
    const costs = `/v1/organizations/${owner.id}/usageCost?from_date=${DAY}&to_date=${DAY}`;
    return (await server.call({ path: costs, key: owner.admin })).json.result.costs.filter(
      ({ entityId }: Json) => entityId === owner.primary,
    );
  };

  it('U5: rates and locks them once, for one organization, and says who did it', async () => {
    for (const owner of [acme, globex]) expect((await send('one', owner)).json.result.accepted).toBe(1);
    const { status, json } = await lock({ through: DAY });
    expect([status, json.result]).toEqual([200, { lockedThrough: DAY, days: 1 }]);
    const locked = await readCosts();
    expect(locked).toMatchObject([{ locked: true }]);
    expect((await readCosts(globex)).every((record) => record.locked === false)).toBe(true);
    expect((await send('late')).json.result.accepted).toBe(1);
    expect((await lock({ through: DAY })).json.result).toEqual({ lockedThrough: DAY, days: 0 });
    expect(await readCosts()).toEqual(locked);
    const { json: activities } = await server.call({ path: `${organization}/activities`, key: acme.admin });
    expect(activities.result.filter(({ after }: Json) => after?.lockedThrough === DAY)).toMatchObject([
      { actorType: 'api', after: { lockedThrough: DAY, days: 1 } },
    ]);
  });

  it('rejects days that are not over or no days, and keys without the role', async () => {
    for (const through of [toDay(0), '2999-01-01', '2026-02-30', 'yesterday', 7, null, undefined]) {
      const { status, json } = await lock({ through });
      expect([status, json.error], String(through)).toEqual([400, expect.stringContaining('request body.through')]);
    }
    expect((await lock({ through: DAY }, acme.developer)).status).toBe(403);
  });

  it('is what `usage lock --url` does', async () => {
    const { keyId, keySecret } = acme.admin;
    const connection = ['--url', server.url, '--key', `${keyId}:${keySecret}`];
    const locked = await cli(['usage', 'lock', '--through', toDay(2), '--json', ...connection]);
    expect([locked.code, locked.stderr]).toEqual([0, '']);
    expect(JSON.parse(locked.stdout)).toMatchObject({ lockedThrough: toDay(2) });
    const early = await cli(['usage', 'lock', '--through', toDay(0), ...connection]);
    expect([early.code, early.stderr]).toEqual([expect.any(Number), expect.stringContaining('The day must be over')]);
    expect(early.code).toBeGreaterThan(0);
  });
});
