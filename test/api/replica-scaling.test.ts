import { beforeEach, describe, expect, it } from 'vitest';
import { acme, globex } from '../support/fleet.ts';
import { createScalingClient, type ServiceName } from '../support/scaling.ts';
import { onEachStore, useServer } from '../support/server.ts';

type Accepted = [service: ServiceName, body: Record<string, unknown>];
type Rejected = [service: ServiceName, body: Record<string, unknown>, field: string, rule: string, value: string];

onEachStore('update service scaling per replica', (store) => {
  const server = useServer(store);
  const { formatPath, patch, patchText, stored, restore } = createScalingClient(server, 'replicaScaling');
  beforeEach(restore);

  async function expectAccepted(...[service, body]: Accepted) {
    const { status, json } = await patch(service, body);
    expect(status).toBe(200);
    expect(json.result).toMatchObject(body);
    expect(await stored(service)).toMatchObject(body);
  }

  it.each<Accepted>([
    ['primary', { minReplicaMemoryGb: 8 }],
    ['primary', { minReplicaMemoryGb: 12 }],
    ['primary', { maxReplicaMemoryGb: 356 }],
    ['primary', { minReplicaMemoryGb: 356, maxReplicaMemoryGb: 356 }],
    ['primary', { minReplicaMemoryGb: 120 }],
    ['primary', { numReplicas: 20, idleScaling: false, idleTimeoutMinutes: 7.5 }],
    ['secondary', { numReplicas: 1 }],
    ['secondary', { maxReplicaMemoryGb: 124 }],
    ['unpaid', { minReplicaMemoryGb: 120, maxReplicaMemoryGb: 120 }],
    ['basic', { minReplicaMemoryGb: 8, maxReplicaMemoryGb: 8, numReplicas: 1 }],
    ['development', { minReplicaMemoryGb: 8, maxReplicaMemoryGb: 8, numReplicas: 3 }],
  ])('S2, S3, S5: %s accepts %j', expectAccepted);

  it.each<Rejected>([
    ['primary', { minReplicaMemoryGb: 4 }, 'minReplicaMemoryGb', 'The value must be at least 8', 'number:4'],
    ['primary', { minReplicaMemoryGb: 10 }, 'minReplicaMemoryGb', 'The value must be a multiple of 4', 'number:10'],
    ['primary', { maxReplicaMemoryGb: 360 }, 'maxReplicaMemoryGb', 'The value must be at most 356', 'number:360'],
    [
      'primary',
      { maxReplicaMemoryGb: 20.00000000001 },
      'maxReplicaMemoryGb',
      'The value must be an integer',
      'number:20.00000000001',
    ],
    ['primary', { maxReplicaMemoryGb: '16' }, 'maxReplicaMemoryGb', 'The value must be an integer', 'string:16'],
    [
      'primary',
      { numReplicas: 1 },
      'numReplicas',
      'The first service of a warehouse must have at least 2 replicas',
      'number:1',
    ],
    ['primary', { numReplicas: 21 }, 'numReplicas', 'The value must be at most 20', 'number:21'],
    ['primary', { idleTimeoutMinutes: 4.99 }, 'idleTimeoutMinutes', 'The value must be at least 5', 'number:4.99'],
    [
      'primary',
      { minReplicaMemoryGb: 124 },
      'minReplicaMemoryGb',
      'The minimum of 124 GB must not exceed the maximum of 120 GB',
      'number:124',
    ],
    [
      'primary',
      { maxReplicaMemoryGb: 12 },
      'maxReplicaMemoryGb',
      'The minimum of 16 GB must not exceed the maximum of 12 GB',
      'number:12',
    ],
    [
      'unpaid',
      { maxReplicaMemoryGb: 124 },
      'maxReplicaMemoryGb',
      'The value must be at most 120 for a non-paid organization',
      'number:124',
    ],
    [
      'basic',
      { maxReplicaMemoryGb: 12 },
      'maxReplicaMemoryGb',
      'A BASIC organization cannot change memory',
      'number:12',
    ],
    ['basic', { numReplicas: 2 }, 'numReplicas', 'A service of a BASIC organization has exactly 1 replica', 'number:2'],
    [
      'development',
      { maxReplicaMemoryGb: 12 },
      'maxReplicaMemoryGb',
      'The size of a development service cannot be changed',
      'number:12',
    ],
    [
      'development',
      { numReplicas: 4 },
      'numReplicas',
      'The size of a development service cannot be changed',
      'number:4',
    ],
  ])('S2, S3, S5: %s rejects %j and stays unchanged', async (service, body, field, rule, value) => {
    const before = await stored(service);
    const { status, json } = await patch(service, { idleScaling: false, ...body });
    expect(status).toBe(400);
    expect(json.error).toBe(`BAD_REQUEST: request body.${field}: ${rule} <${value}>`);
    expect(await stored(service)).toEqual(before);
  });

  it('S4: memory per replica is a third of the total', async () => {
    const { json } = await patch('primary', { minReplicaMemoryGb: 20, maxReplicaMemoryGb: 80, numReplicas: 7 });
    expect(json.result).toMatchObject({ minTotalMemoryGb: 60, maxTotalMemoryGb: 240 });
  });

  it('S6: the fields are not deprecated', async () => {
    const { headers } = await patch('primary', { minReplicaMemoryGb: 20, maxReplicaMemoryGb: 80 });
    expect([headers.get('deprecation'), headers.get('link')]).toEqual([null, null]);
  });

  it.each([
    '{}',
    'null',
    '',
    '{"minReplicaMemoryGb":null,"numReplicas":null}',
    '{"minTotalMemoryGb":24,"name":"other"}',
  ])('S1, B4, B5: %s returns 200 and changes nothing', async (text) => {
    const before = await stored('primary');
    expect((await patchText('primary', text)).status).toBe(200);
    expect(await stored('primary')).toEqual(before);
  });

  it('M3: reports every invalid field', async () => {
    const { json } = await patch('primary', { autoscalingMode: 'diagonal', maxReplicaMemoryGb: 6, numReplicas: 0 });
    expect(json.error).toBe(
      'BAD_REQUEST: request body.autoscalingMode: The value must be one of vertical, horizontal <string:diagonal>; ' +
        'request body.maxReplicaMemoryGb: The value must be at least 8 <number:6>; request body.numReplicas: The value must be at least 1 <number:0>',
    );
  });

  it('horizontal mode scales the number of replicas of a fixed size', async () => {
    const change = { autoscalingMode: 'horizontal', minReplicas: 2, maxReplicas: 5, maxReplicaMemoryGb: 16 };
    const { json } = await patch('primary', change);
    const expected = { ...change, minReplicaMemoryGb: 16, replicaMemoryGb: 16, numReplicas: 2, minTotalMemoryGb: 48 };
    expect(json.result).toMatchObject(expected);
    const read = () => server.call({ path: formatPath('primary'), key: acme.admin });
    expect((await read()).json.result).toMatchObject({
      ...expected,
      currentScaling: {
        effectiveAutoscalingMode: 'horizontal',
        effectiveMinReplicas: 2,
        effectiveMaxReplicas: 5,
        effectiveMinReplicaMemoryGb: 16,
      },
    });
    // The preview shows the cost of all replicas at most.
    const preview = (body: object) =>
      server.call({ method: 'POST', path: `${formatPath('primary')}/replicaScaling/preview`, key: acme.admin, body });
    const { monthlyCost } = (await preview({ maxReplicas: 10 })).json.result;
    expect(monthlyCost.after.max).toBe(2 * monthlyCost.before.max);

    expect((await patch('primary', { maxReplicas: 6 })).json.result).toMatchObject({ minReplicas: 2, maxReplicas: 6 });
    expect((await patch('primary', { numReplicas: 4 })).json.result).toMatchObject({ minReplicas: 4, maxReplicas: 4 });
    const vertical = (await patch('primary', { autoscalingMode: 'vertical' })).json.result;
    expect(vertical).toMatchObject({ autoscalingMode: 'vertical', numReplicas: 4 });
    for (const name of ['minReplicas', 'maxReplicas', 'replicaMemoryGb']) expect(vertical).not.toHaveProperty(name);
    expect((await patch('primary', { minReplicas: 3, maxReplicas: 3 })).json.result.numReplicas).toBe(3);
  });

  it.each<[ServiceName, Record<string, unknown>, string]>([
    [
      'primary',
      { minReplicas: 2, maxReplicas: 5 },
      'maxReplicas: minReplicas and maxReplicas must be equal unless autoscalingMode is horizontal <number:5>',
    ],
    [
      'primary',
      { autoscalingMode: 'horizontal' },
      'autoscalingMode: The size of a replica is fixed in horizontal mode: the minimum of 16 GB and the maximum of 120 GB must be equal <string:horizontal>',
    ],
    [
      'primary',
      { autoscalingMode: 'horizontal', maxReplicaMemoryGb: 20 },
      'maxReplicaMemoryGb: The size of a replica is fixed in horizontal mode: the minimum of 16 GB and the maximum of 20 GB must be equal <number:20>',
    ],
    [
      'primary',
      { autoscalingMode: 'horizontal', maxReplicaMemoryGb: 16, minReplicas: 6, maxReplicas: 5 },
      'minReplicas: The minimum of 6 replicas must not exceed the maximum of 5 <number:6>',
    ],
    [
      'primary',
      { autoscalingMode: 'horizontal', maxReplicaMemoryGb: 16, minReplicas: 1, maxReplicas: 5 },
      'minReplicas: The first service of a warehouse must have at least 2 replicas <number:1>',
    ],
    [
      'primary',
      { numReplicas: 4, maxReplicas: 5 },
      'numReplicas: The value sets minReplicas and maxReplicas, so they must be left out or be equal to it <number:4>',
    ],
    [
      'basic',
      { autoscalingMode: 'horizontal', maxReplicas: 2 },
      'maxReplicas: A service of a BASIC organization has exactly 1 replica <number:2>',
    ],
    [
      'development',
      { autoscalingMode: 'horizontal', minReplicas: 2, maxReplicas: 4 },
      'minReplicas: The size of a development service cannot be changed <number:2>; request body.maxReplicas: The size of a development service cannot be changed <number:4>',
    ],
  ])('horizontal mode: %s rejects %j', async (service, body, text) => {
    const before = await stored(service);
    const { status, json } = await patch(service, body);
    expect([status, json.error]).toEqual([400, `BAD_REQUEST: request body.${text}`]);
    expect(await stored(service)).toEqual(before);
  });

  it('S1: concurrent updates of totals and of replicas both take effect', async () => {
    for (let round = 0; round < 10; round++) {
      const [minTotalMemoryGb, maxReplicaMemoryGb] = [24 + 12 * round, 120 + 4 * round];
      const totals = server.call({
        method: 'PATCH',
        path: `${formatPath('primary')}/scaling`,
        key: acme.admin,
        body: { minTotalMemoryGb },
      });
      const responses = await Promise.all([totals, patch('primary', { maxReplicaMemoryGb })]);
      expect(responses.map(({ status }) => status)).toEqual([200, 200]);
      expect(await stored('primary')).toMatchObject({ minTotalMemoryGb, maxReplicaMemoryGb });
    }
  });

  describe('M4: access to services', () => {
    it.each([
      ['another organization', globex.id, globex.primary, `organization ${globex.id} does not exist`],
      ['a service of another organization', acme.id, globex.primary, `service ${globex.primary} does not exist`],
    ])('returns 404 for %s', async (_, organizationId, serviceId, text) => {
      const path = `/v1/organizations/${organizationId}/services/${serviceId}/replicaScaling`;
      const { status, json } = await server.call({ method: 'PATCH', path, key: acme.admin, body: { numReplicas: 4 } });
      expect([status, json.error]).toEqual([404, `NOT_FOUND: ${text}`]);
    });

    it('ids are case-insensitive', async () => {
      const path = `/v1/organizations/${acme.id.toUpperCase()}/services/${acme.primary.toUpperCase()}/replicaScaling`;
      const { status, json } = await server.call({ method: 'PATCH', path, key: acme.admin, body: { numReplicas: 4 } });
      expect([status, json.result.id]).toEqual([200, acme.primary]);
    });

    it.each([['developer'], ['query']] as const)('R1: rejects the %s key', async (holder) => {
      expect((await patch('primary', { numReplicas: 4 }, { key: acme[holder] })).status).toBe(403);
    });
  });
});
