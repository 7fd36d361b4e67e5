import { beforeEach, describe, expect, it } from 'vitest';
import { createScalingClient, type ServiceName } from '../support/scaling.ts';
import { onEachStore, useServer } from '../support/server.ts';

type Accepted = [service: ServiceName, body: Record<string, unknown>];
type Rejected = [service: ServiceName, body: Record<string, unknown>, field: string, rule: string, value: string];

onEachStore('the scaling rules', (store) => {
  const server = useServer(store);
  const { patch, patchText, stored, restore } = createScalingClient(server, 'scaling');
  beforeEach(restore);

  async function expectRejected(...[service, body, field, rule, value]: Rejected) {
    const before = await stored(service);
    const { status, json } = await patch(service, body);
    expect(status).toBe(400);
    expect(json.error).toBe(`BAD_REQUEST: request body.${field}: ${rule} <${value}>`);
    expect(await stored(service)).toEqual(before);
  }

  async function expectAccepted(...[service, body]: Accepted) {
    const { status, json } = await patch(service, body);
    expect(status).toBe(200);
    expect(json.result).toMatchObject(body);
    expect(await stored(service)).toMatchObject(body);
  }

  describe('S2: numReplicas', () => {
    it.each<Accepted>([
      ['primary', { numReplicas: 2 }],
      ['primary', { numReplicas: 20 }],
      ['secondary', { numReplicas: 1 }],
      ['secondary', { numReplicas: 20 }],
      ['unpaid', { numReplicas: 20 }],
      ['basic', { numReplicas: 1 }],
      ['development', { numReplicas: 3 }],
    ])('%s accepts %j', expectAccepted);

    it('S2, B5: 3.0 is the integer 3', async () => {
      expect((await patchText('secondary', '{"numReplicas": 3.0}')).json.result.numReplicas).toBe(3);
    });

    it.each<Rejected>([
      ['primary', { numReplicas: 0 }, 'numReplicas', 'The value must be at least 1', 'number:0'],
      [
        'primary',
        { numReplicas: 1 },
        'numReplicas',
        'The first service of a warehouse must have at least 2 replicas',
        'number:1',
      ],
      ['primary', { numReplicas: 21 }, 'numReplicas', 'The value must be at most 20', 'number:21'],
      ['primary', { numReplicas: 2.5 }, 'numReplicas', 'The value must be an integer', 'number:2.5'],
      ['primary', { numReplicas: '3' }, 'numReplicas', 'The value must be an integer', 'string:3'],
      ['primary', { numReplicas: true }, 'numReplicas', 'The value must be an integer', 'boolean:true'],
      ['primary', { numReplicas: [3] }, 'numReplicas', 'The value must be an integer', 'array'],
      ['primary', { numReplicas: {} }, 'numReplicas', 'The value must be an integer', 'object'],
      ['secondary', { numReplicas: 0 }, 'numReplicas', 'The value must be at least 1', 'number:0'],
      ['secondary', { numReplicas: -1 }, 'numReplicas', 'The value must be at least 1', 'number:-1'],
      ['secondary', { numReplicas: 21 }, 'numReplicas', 'The value must be at most 20', 'number:21'],
      [
        'basic',
        { numReplicas: 2 },
        'numReplicas',
        'A service of a BASIC organization has exactly 1 replica',
        'number:2',
      ],
      [
        'development',
        { numReplicas: 2 },
        'numReplicas',
        'The size of a development service cannot be changed',
        'number:2',
      ],
    ])('%s rejects %j and stays unchanged', expectRejected);
  });

  describe('S3: memory', () => {
    it.each<Accepted>([
      ['primary', { minTotalMemoryGb: 24 }],
      ['primary', { minTotalMemoryGb: 36 }],
      ['primary', { maxTotalMemoryGb: 1068 }],
      ['primary', { minTotalMemoryGb: 1068, maxTotalMemoryGb: 1068 }],
      ['primary', { minTotalMemoryGb: 24, maxTotalMemoryGb: 24 }],
      ['primary', { minTotalMemoryGb: 360 }],
      ['primary', { maxTotalMemoryGb: 48 }],
      ['secondary', { maxTotalMemoryGb: 372 }],
      ['unpaid', { minTotalMemoryGb: 360, maxTotalMemoryGb: 360 }],
    ])('%s accepts %j', expectAccepted);

    it.each<Rejected>([
      ['primary', { minTotalMemoryGb: 12 }, 'minTotalMemoryGb', 'The value must be at least 24', 'number:12'],
      ['primary', { minTotalMemoryGb: 25 }, 'minTotalMemoryGb', 'The value must be a multiple of 12', 'number:25'],
      ['primary', { maxTotalMemoryGb: 12 }, 'maxTotalMemoryGb', 'The value must be at least 24', 'number:12'],
      ['primary', { maxTotalMemoryGb: 32 }, 'maxTotalMemoryGb', 'The value must be a multiple of 12', 'number:32'],
      ['primary', { maxTotalMemoryGb: 1080 }, 'maxTotalMemoryGb', 'The value must be at most 1068', 'number:1080'],
      [
        'primary',
        { maxTotalMemoryGb: 60.00000000001 },
        'maxTotalMemoryGb',
        'The value must be an integer',
        'number:60.00000000001',
      ],
      ['primary', { maxTotalMemoryGb: '360' }, 'maxTotalMemoryGb', 'The value must be an integer', 'string:360'],
      [
        'unpaid',
        { maxTotalMemoryGb: 372 },
        'maxTotalMemoryGb',
        'The value must be at most 360 for a non-paid organization',
        'number:372',
      ],
      [
        'unpaid',
        { maxTotalMemoryGb: 1068 },
        'maxTotalMemoryGb',
        'The value must be at most 360 for a non-paid organization',
        'number:1068',
      ],
      ['basic', { maxTotalMemoryGb: 36 }, 'maxTotalMemoryGb', 'A BASIC organization cannot change memory', 'number:36'],
      [
        'development',
        { maxTotalMemoryGb: 36 },
        'maxTotalMemoryGb',
        'The size of a development service cannot be changed',
        'number:36',
      ],
    ])('%s rejects %j and stays unchanged', expectRejected);

    it.each<Rejected>([
      [
        'primary',
        { minTotalMemoryGb: 372 },
        'minTotalMemoryGb',
        'The minimum of 372 GB must not exceed the maximum of 360 GB',
        'number:372',
      ],
      [
        'primary',
        { maxTotalMemoryGb: 36 },
        'maxTotalMemoryGb',
        'The minimum of 48 GB must not exceed the maximum of 36 GB',
        'number:36',
      ],
      [
        'primary',
        { minTotalMemoryGb: 120, maxTotalMemoryGb: 108 },
        'minTotalMemoryGb',
        'The minimum of 120 GB must not exceed the maximum of 108 GB',
        'number:120',
      ],
    ])('%s rejects %j: the minimum would exceed the maximum', expectRejected);

    it('two values that are only valid together are accepted together', async () => {
      await expectAccepted('primary', { minTotalMemoryGb: 720, maxTotalMemoryGb: 1068 });
      await expectAccepted('primary', { minTotalMemoryGb: 24, maxTotalMemoryGb: 36 });
    });

    it.each<Accepted>([
      ['basic', { minTotalMemoryGb: 24, maxTotalMemoryGb: 24, numReplicas: 1 }],
      ['development', { minTotalMemoryGb: 24, maxTotalMemoryGb: 24, numReplicas: 3 }],
    ])('%s accepts %j: a value equal to the stored one is always valid', expectAccepted);

    it.each<Accepted>([
      ['basic', { idleScaling: false, idleTimeoutMinutes: 45 }],
      ['development', { idleScaling: false, idleTimeoutMinutes: 45 }],
    ])('%s has a fixed size but accepts %j', expectAccepted);
  });

  describe('S4: totals and replicas', () => {
    it.each([2, 5, 20])(
      'a total is three times the value of one replica, even with %i replicas',
      async (numReplicas) => {
        const { json } = await patch('primary', { numReplicas, minTotalMemoryGb: 60, maxTotalMemoryGb: 240 });
        expect(json.result).toMatchObject({
          numReplicas,
          minReplicaMemoryGb: 20,
          minTotalMemoryGb: 60,
          maxReplicaMemoryGb: 80,
          maxTotalMemoryGb: 240,
        });
      },
    );

    it.each<[ServiceName, Record<string, unknown>]>([
      [
        'secondary',
        {
          numReplicas: 2,
          minReplicaMemoryGb: 16,
          maxReplicaMemoryGb: 120,
          minTotalMemoryGb: 48,
          maxTotalMemoryGb: 360,
          idleScaling: true,
          idleTimeoutMinutes: 15,
        },
      ],
      [
        'unpaid',
        {
          numReplicas: 2,
          minReplicaMemoryGb: 16,
          maxReplicaMemoryGb: 120,
          minTotalMemoryGb: 48,
          maxTotalMemoryGb: 360,
        },
      ],
      [
        'development',
        { numReplicas: 3, minReplicaMemoryGb: 8, maxReplicaMemoryGb: 8, minTotalMemoryGb: 24, maxTotalMemoryGb: 24 },
      ],
      [
        'basic',
        { numReplicas: 1, minReplicaMemoryGb: 8, maxReplicaMemoryGb: 8, minTotalMemoryGb: 24, maxTotalMemoryGb: 24 },
      ],
    ])('%s shows its initial settings, defaults included', async (service, expected) => {
      expect(await stored(service)).toMatchObject(expected);
    });
  });

  describe('S5: idling', () => {
    it.each<Accepted>([
      ['primary', { idleTimeoutMinutes: 5 }],
      ['primary', { idleTimeoutMinutes: 7.5 }],
      ['primary', { idleTimeoutMinutes: 1e308 }],
      ['primary', { idleTimeoutMinutes: 0.1 + 5 }],
      ['primary', { idleScaling: false }],
      ['primary', { idleScaling: false, idleTimeoutMinutes: 30 }],
    ])('%s accepts %j', expectAccepted);

    it.each<Rejected>([
      ['primary', { idleTimeoutMinutes: 4.99 }, 'idleTimeoutMinutes', 'The value must be at least 5', 'number:4.99'],
      ['primary', { idleTimeoutMinutes: -5 }, 'idleTimeoutMinutes', 'The value must be at least 5', 'number:-5'],
      ['primary', { idleTimeoutMinutes: '15' }, 'idleTimeoutMinutes', 'The value must be a number', 'string:15'],
      ['primary', { idleScaling: 'true' }, 'idleScaling', 'The value must be a boolean', 'string:true'],
      ['primary', { idleScaling: 1 }, 'idleScaling', 'The value must be a boolean', 'number:1'],
    ])('%s rejects %j and stays unchanged', expectRejected);

    it('rejects 1e400, which is not finite', async () => {
      const { status, json } = await patchText('primary', '{"idleTimeoutMinutes": 1e400}');
      expect(status).toBe(400);
      expect(json.error).toBe(
        'BAD_REQUEST: request body.idleTimeoutMinutes: The value must be a number <number:Infinity>',
      );
    });

    it('stores and returns a timeout that is set while idling is off', async () => {
      await patch('primary', { idleScaling: false });
      await patch('primary', { idleTimeoutMinutes: 99 });
      expect((await patch('primary', { idleScaling: true })).json.result).toMatchObject({
        idleScaling: true,
        idleTimeoutMinutes: 99,
      });
    });
  });
});
