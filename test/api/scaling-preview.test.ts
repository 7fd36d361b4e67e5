import { expect, it } from 'vitest';
import { acme, fleet, globex, initech } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';

onEachStore('the preview of a scaling change', (store) => {
  const server = useServer(store);
  const preview = (
    body: object,
    service = acme.primary,
    { id, admin }: Pick<typeof acme, 'id' | 'admin'> = acme,
    path = 'scaling',
  ) =>
    server.call({
      method: 'POST',
      path: `/v1/organizations/${id}/services/${service}/${path}/preview`,
      key: admin,
      body,
    });
  const stored = async (service = acme.primary) =>
    (await server.call({ path: `/v1/organizations/${acme.id}/services/${service}`, key: acme.admin })).json.result;
  /** Units of 8 GB × 732 hours × the list price of the tier. */
  const monthly = (replicas: number, replicaGb: number, price = 0.2985) =>
    Math.round(((replicas * replicaGb) / 8) * 732 * price * 1e6) / 1e6;

  it('returns the record and the monthly cost before and after, and stores nothing', async () => {
    const before = await stored();
    const listActivities = async () =>
      (await server.call({ path: `/v1/organizations/${acme.id}/activities`, key: acme.admin })).json.result;
    const activities = await listActivities();
    const { status, json } = await preview({ numReplicas: 4, minTotalMemoryGb: 96, idleScaling: false });
    expect(status).toBe(200);
    expect(json.result).toEqual({
      service: {
        ...before,
        numReplicas: 4,
        minTotalMemoryGb: 96,
        minReplicaMemoryGb: 32,
        idleScaling: false,
        currentScaling: {
          ...before.currentScaling,
          effectiveMinReplicas: 4,
          effectiveMaxReplicas: 4,
          effectiveMinReplicaMemoryGb: 32,
          effectiveIdleScaling: false,
        },
        status: { ...before.status, requested: { replicas: 4, replicaMemoryGb: 32 } },
      },
      monthlyCost: {
        before: { min: 0, max: monthly(3, 120), replicas: 3 },
        after: { min: monthly(4, 32), max: monthly(4, 120), replicas: 4 },
      },
      usageDays: 0,
    });
    expect(await stored()).toEqual(before);
    expect(await listActivities()).toEqual(activities);
  });

  it('of a new service has the defaults, the limits and the cost, and creates nothing', async () => {
    const place = { provider: 'aws', region: 'us-east-1' };
    const previewNew = (body: object, { id, admin }: Pick<typeof acme, 'id' | 'admin'> = acme) =>
      server.call({
        method: 'POST',
        path: `/v1/organizations/${id}/services/preview`,
        key: admin,
        body: { ...place, ...body },
      });
    const list = async () =>
      (await server.call({ path: `/v1/organizations/${acme.id}/services`, key: acme.admin })).json.result;
    const before = await list();
    const { json } = await previewNew({});
    expect(json.result).toEqual({
      minReplicaMemoryGb: 16,
      maxReplicaMemoryGb: 120,
      numReplicas: 3,
      idleScaling: true,
      idleTimeoutMinutes: 15,
      monthlyCost: { min: 0, max: monthly(3, 120), replicas: 3 },
    });
    const sized = await previewNew({ numReplicas: 2, maxReplicaMemoryGb: 32, idleScaling: false });
    expect(sized.json.result.monthlyCost).toEqual({ min: monthly(2, 16), max: monthly(2, 32), replicas: 2 });
    expect((await previewNew({}, initech)).json.result).toMatchObject({ numReplicas: 1, maxReplicaMemoryGb: 8 });
    // Rejected for the reasons that creating it would be.
    expect((await previewNew({ numReplicas: 1 })).json.error).toContain('numReplicas');
    expect((await previewNew({ driver: 'webhook' })).json.error).toContain('driver');
    expect((await previewNew({ maxReplicaMemoryGb: 124 }, globex)).json.error).toContain('at most 120');
    expect(await list()).toEqual(before);
  });

  it('returns the same record as the change', async () => {
    const body = { numReplicas: 5, maxTotalMemoryGb: 120 };
    const expected = (await preview(body, acme.secondary)).json.result.service;
    const path = `/v1/organizations/${acme.id}/services/${acme.secondary}/scaling`;
    await server.call({ method: 'PATCH', path, key: acme.admin, body });
    expect(await stored(acme.secondary)).toEqual(expected);
  });

  it('accepts memory per replica and uses the price of the tier', async () => {
    const { json } = await preview(
      { minReplicaMemoryGb: 64, idleScaling: false },
      acme.primary,
      acme,
      'replicaScaling',
    );
    expect(json.result.monthlyCost.after.min).toBe(monthly(3, 64));
    const basic = await preview({ idleScaling: false }, initech.primary, initech);
    expect(basic.json.result.monthlyCost.after).toEqual({
      min: monthly(1, 8, 0.2181),
      max: monthly(1, 8, 0.2181),
      replicas: 1,
    });
    expect(basic.json.result.monthlyCost.after.min).toBe(159.6492);
  });

  it.each([
    ['S2', { numReplicas: 1 }, acme.primary],
    ['S3', { minTotalMemoryGb: 32 }, acme.primary],
    ['S3', { minTotalMemoryGb: 360, maxTotalMemoryGb: 24 }, acme.primary],
    ['S3', { maxTotalMemoryGb: 48 }, acme.development],
    ['S5', { idleTimeoutMinutes: 1 }, acme.primary],
  ])('%s: rejects %j like the change', async (_, body, service) => {
    const path = `/v1/organizations/${acme.id}/services/${service}/scaling`;
    const rejected = await server.call({ method: 'PATCH', path, key: acme.admin, body });
    const response = await preview(body, service);
    expect([response.status, response.json.error]).toEqual([400, rejected.json.error]);
    expect(rejected.status).toBe(400);
  });

  it('R1, M4: admits developer, rejects query_endpoints, and returns 404 for a missing service', async () => {
    const as = (key: typeof acme.admin) => preview({}, acme.primary, { ...acme, admin: key });
    expect((await as(acme.developer)).status).toBe(200);
    expect((await as(acme.query)).status).toBe(403);
    expect((await preview({}, initech.primary)).json.error).toBe(
      `NOT_FOUND: service ${initech.primary} does not exist`,
    );
  });

  it('prices all shards, and the record shows them', async () => {
    const set = (observed: object) =>
      runSql(server, `UPDATE services SET observed = '${JSON.stringify(observed)}' WHERE id = '${acme.primary}'`);
    const observed = { state: 'running', since: Date.now(), replicas: 3, memoryGb: 16 };
    const body = { numReplicas: 4, minReplicaMemoryGb: 32, maxReplicaMemoryGb: 64, idleScaling: false };
    expect(await stored(acme.primary)).not.toHaveProperty('shards');
    const one = (await preview(body, acme.primary, acme, 'replicaScaling')).json.result.monthlyCost;
    await set({ ...observed, shards: 3 });
    expect(await stored(acme.primary)).toMatchObject({ shards: 3, numReplicas: 3 });
    const { service, monthlyCost } = (await preview(body, acme.primary, acme, 'replicaScaling')).json.result;
    expect(service).toMatchObject({ shards: 3, numReplicas: 4 });
    expect(monthlyCost.after).toMatchObject({ shards: 3, replicas: 4, min: monthly(12, 32), max: monthly(12, 64) });
    expect(monthlyCost.before.max).toBeCloseTo(3 * one.before.max, 4);
    expect(one.after).not.toHaveProperty('shards');
    const totals = await preview({ numReplicas: 4, idleScaling: false }, acme.primary);
    expect(totals.json.result.monthlyCost.after.min).toBeCloseTo(monthly(12, 16), 4);
    const metrics = await server.call({
      path: `/v1/organizations/${acme.id}/services/${acme.primary}/prometheus`,
      key: acme.admin,
    });
    expect(metrics.text).toMatch(/pilothouse_service_shards\{.*\} 3\n/);
    await set(observed);
  });
});

const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
/** 24 GB per replica × 2 replicas for a whole day, at 0.2985 CHC per 8 GB and hour. */
const DAILY_CHC = 42.984;
const PRICE = 0.2985;

onEachStore('the estimate of the preview', (store) => {
  const usageCosts = [
    // Outside the 30 days before today, and today itself.
    ...[0, 31, 40].map((days) => ({ days, computeCHC: 1000 })),
    ...Array.from({ length: 20 }, (_, index) => ({ days: index + 1, computeCHC: DAILY_CHC })),
  ].map(({ days, computeCHC }) => ({
    date: daysAgo(days),
    entityType: 'service',
    entityId: acme.secondary,
    metrics: { computeCHC, publicDataTransferCHC: 5 },
  }));
  const [first, ...others] = fleet.organizations;
  const organizations = [{ ...first, usageCosts }, ...others];
  const server = useServer(store, { fleet: { organizations } });
  const preview = async (body: object, service = acme.secondary, { id, admin } = acme) => {
    const path = `/v1/organizations/${id}/services/${service}/replicaScaling/preview`;
    return (await server.call({ method: 'POST', path, key: admin, body })).json.result;
  };
  /** Average GB of all replicas → CHC per month of 732 hours. */
  const monthly = (gb: number) => (gb / 8) * 732 * PRICE;

  it('is the cost of the last 30 days as a month, without a change', async () => {
    const { monthlyCost, usageDays } = await preview({});
    expect(usageDays).toBe(20);
    expect(monthlyCost.before.estimate).toBeCloseTo((DAILY_CHC / 24) * 732, 3);
    expect(monthlyCost.after).toEqual(monthlyCost.before);
  });

  it.each([
    ['more replicas of the same size', { numReplicas: 4 }, 4 * 24],
    ['a minimum above the size in use', { minReplicaMemoryGb: 40 }, 2 * 40],
    ['a maximum below the size in use', { maxReplicaMemoryGb: 16 }, 2 * 16],
    ['no idling', { idleScaling: false }, 2 * 24],
  ])('follows %s', async (_, body, gb) => {
    expect((await preview(body)).monthlyCost.after.estimate).toBeCloseTo(monthly(gb), 3);
  });

  it('is omitted for a service without usage', async () => {
    for (const result of [await preview({}, acme.primary), await preview({}, globex.primary, { ...acme, ...globex })]) {
      expect(result.usageDays).toBe(0);
      expect(result.monthlyCost.before).not.toHaveProperty('estimate');
    }
  });
});
