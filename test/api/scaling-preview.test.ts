import { expect, it } from 'vitest';
import { acme, initech } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

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
        currentScaling: { ...before.currentScaling, numReplicas: 4, minReplicaMemoryGb: 32, idleScaling: false },
      },
      monthlyCost: {
        before: { min: 0, max: monthly(3, 120) },
        after: { min: monthly(4, 32), max: monthly(4, 120) },
      },
      usageDays: 0,
    });
    expect(await stored()).toEqual(before);
    expect(await listActivities()).toEqual(activities);
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
    expect(basic.json.result.monthlyCost.after).toEqual({ min: monthly(1, 8, 0.2181), max: monthly(1, 8, 0.2181) });
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
});
