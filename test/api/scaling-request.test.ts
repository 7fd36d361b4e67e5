import { beforeEach, describe, expect, it } from 'vitest';
import { acme, globex } from '../support/fleet.ts';
import { createScalingClient } from '../support/scaling.ts';
import { onEachStore, useServer } from '../support/server.ts';

const UNKNOWN = 'ffffffff-ffff-4fff-bfff-ffffffffffff';

onEachStore('a request to update service scaling', (store) => {
  const server = useServer(store);
  const { formatPath, patch, patchText, stored, restore } = createScalingClient(server, 'scaling');
  beforeEach(restore);

  describe('S1: omitted fields keep their value', () => {
    it.each([
      { numReplicas: 5 },
      { minTotalMemoryGb: 60 },
      { maxTotalMemoryGb: 480 },
      { idleScaling: false },
      { idleTimeoutMinutes: 20 },
    ])('%j changes nothing else', async (body) => {
      const before = await stored('primary');
      const { status } = await patch('primary', body);
      expect(status).toBe(200);
      const replica = Object.fromEntries(
        Object.entries(body).flatMap(([name, value]) =>
          name.includes('Total') ? [[name.replace('Total', 'Replica'), Number(value) / 3]] : [],
        ),
      );
      expect(await stored('primary')).toEqual({ ...before, ...body, ...replica });
    });

    it.each([
      ['{}', '{}'],
      ['a body of null (B5)', 'null'],
      ['an empty body (B5)', ''],
      [
        'null members (B4)',
        '{"numReplicas":null,"minTotalMemoryGb":null,"maxTotalMemoryGb":null,"idleScaling":null,"idleTimeoutMinutes":null}',
      ],
      [
        'unknown members (B4)',
        '{"name":"other","state":"stopped","minReplicaMemoryGb":64,"isPrimary":false,"x":{"y":[1]}}',
      ],
      [
        'members named like prototype properties (B5)',
        '{"__proto__":{"numReplicas":7},"constructor":{"numReplicas":7}}',
      ],
    ])('%s returns 200 with the unchanged record', async (_, text) => {
      const before = await server.call({ path: formatPath('primary'), key: acme.admin });
      const { status, json } = await patchText('primary', text);
      expect(status).toBe(200);
      expect(before.json.result).toMatchObject(json.result);
      expect((await server.call({ path: formatPath('primary'), key: acme.admin })).json.result).toEqual(
        before.json.result,
      );
    });

    it('B5: treats a missing body and content type as {}', async () => {
      expect((await patch('primary')).status).toBe(200);
    });

    it('B4: a null field does not affect other fields', async () => {
      const { json } = await patch('primary', { numReplicas: 6, maxTotalMemoryGb: null });
      expect(json.result).toMatchObject({ numReplicas: 6, maxTotalMemoryGb: 360 });
    });

    it('B5: the last of duplicate fields wins', async () => {
      expect((await patchText('primary', '{"numReplicas":99,"numReplicas":7}')).json.result.numReplicas).toBe(7);
    });
  });

  describe('M3: errors are exact', () => {
    it('lists every invalid field, joined by "; ", and stores none of the valid ones', async () => {
      const before = await stored('primary');
      const { status, json } = await patch('primary', {
        idleScaling: 'no',
        idleTimeoutMinutes: 4,
        maxTotalMemoryGb: 1080,
        minTotalMemoryGb: 32,
        numReplicas: 9,
      });
      expect(status).toBe(400);
      expect(json).toEqual({
        requestId: json.requestId,
        status: 400,
        error:
          'BAD_REQUEST: request body.idleScaling: The value must be a boolean <string:no>; ' +
          'request body.idleTimeoutMinutes: The value must be at least 5 <number:4>; ' +
          'request body.maxTotalMemoryGb: The value must be at most 1068 <number:1080>; ' +
          'request body.minTotalMemoryGb: The value must be a multiple of 12 <number:32>',
      });
      expect(await stored('primary')).toEqual(before);
    });

    it('lists every rule that the service would violate, and stores nothing (S1)', async () => {
      const before = await stored('unpaid');
      const { status, json } = await patch('unpaid', { numReplicas: 1, maxTotalMemoryGb: 480, idleTimeoutMinutes: 60 });
      expect(status).toBe(400);
      expect(json.error).toBe(
        'BAD_REQUEST: request body.numReplicas: The first service of a warehouse must have at least 2 replicas <number:1>; ' +
          'request body.maxTotalMemoryGb: The value must be at most 360 for a non-paid organization <number:480>',
      );
      expect(await stored('unpaid')).toEqual(before);
    });

    it('truncates a long value to 64 characters', async () => {
      const { json } = await patch('primary', { idleScaling: 'é'.repeat(100) });
      expect(json.error).toBe(
        `BAD_REQUEST: request body.idleScaling: The value must be a boolean <string:${'é'.repeat(64)}>`,
      );
    });

    it.each([
      ['[]', '<array>'],
      ['"text"', '<string:text>'],
      ['3', '<number:3>'],
      ['true', '<boolean:true>'],
    ])('B5: rejects a body of %s, which is not an object', async (text, formatted) => {
      const { status, json } = await patchText('primary', text);
      expect(status).toBe(400);
      expect(json.error).toBe(`BAD_REQUEST: request body: The value must be an object ${formatted}`);
    });

    it('B4: names an unknown query parameter', async () => {
      const { status, json } = await server.call({
        method: 'PATCH',
        path: `${formatPath('primary')}/scaling?dryRun=1`,
        key: acme.admin,
        body: { numReplicas: 9 },
      });
      expect(status).toBe(400);
      expect(json.error).toBe('BAD_REQUEST: query.dryRun: Unknown parameter <string:1>');
      expect(await stored('primary')).toMatchObject({ numReplicas: 3 });
    });
  });

  describe('S6: deprecated fields', () => {
    it.each([
      [{ minTotalMemoryGb: 60 }],
      [{ maxTotalMemoryGb: 480 }],
      [{ maxTotalMemoryGb: 360 }],
      [{ numReplicas: 4, minTotalMemoryGb: 24 }],
    ])('%j gets the headers deprecation and link', async (body) => {
      const { status, headers } = await patch('primary', body);
      expect(status).toBe(200);
      expect(headers.get('deprecation')).toMatch(/^@\d+$/);
      expect(headers.get('link')).toMatch(/^<[^>]+>; rel="deprecation"/);
    });

    it.each([
      [200, { numReplicas: 4 }],
      [200, {}],
      [200, { minTotalMemoryGb: null, maxTotalMemoryGb: null }],
      [400, { minTotalMemoryGb: 25 }],
      [400, { minTotalMemoryGb: 60, numReplicas: 1 }],
    ])('status %i for %j does not have these headers', async (expected, body) => {
      const { status, headers } = await patch('primary', body);
      expect(status).toBe(expected);
      expect([headers.get('deprecation'), headers.get('link')]).toEqual([null, null]);
    });
  });

  describe('S1: concurrent updates', () => {
    it('of different fields all take effect', async () => {
      for (let round = 0; round < 10; round++) {
        const fields = [
          { numReplicas: 2 + round },
          { minTotalMemoryGb: 24 + 12 * round },
          { maxTotalMemoryGb: 360 + 12 * round },
          { idleScaling: round % 2 === 0 },
          { idleTimeoutMinutes: 5 + round / 2 },
        ];
        const responses = await Promise.all(fields.map((body) => patch('primary', body)));
        expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
        expect(await stored('primary')).toMatchObject(Object.assign({}, ...fields));
      }
    });

    it('S3: of two that exclude each other, exactly one is stored', async () => {
      const responses = await Promise.all([
        patch('primary', { minTotalMemoryGb: 240 }),
        patch('primary', { maxTotalMemoryGb: 120 }),
      ]);
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 400]);
      const { minTotalMemoryGb, maxTotalMemoryGb } = await stored('primary');
      expect([
        [240, 360],
        [48, 120],
      ]).toContainEqual([minTotalMemoryGb, maxTotalMemoryGb]);
    });
  });

  describe('M4: access to services', () => {
    const body = { numReplicas: 4 };

    it.each([
      ['a service that does not exist', acme.id, UNKNOWN, `service ${UNKNOWN} does not exist`],
      ['a service of another organization', acme.id, globex.primary, `service ${globex.primary} does not exist`],
      ['an organization that does not exist', UNKNOWN, acme.primary, `organization ${UNKNOWN} does not exist`],
      [
        'another organization and its own service',
        globex.id,
        globex.primary,
        `organization ${globex.id} does not exist`,
      ],
    ])('returns 404 for %s', async (_, organizationId, serviceId, text) => {
      const path = `/v1/organizations/${organizationId}/services/${serviceId}/scaling`;
      const { status, json } = await server.call({ method: 'PATCH', path, key: acme.admin, body });
      expect(status).toBe(404);
      expect(json).toEqual({ requestId: json.requestId, error: `NOT_FOUND: ${text}`, status: 404 });
      expect(await stored('unpaid')).toMatchObject({ numReplicas: 2 });
    });

    it('ids are case-insensitive', async () => {
      const path = `/v1/organizations/${acme.id.toUpperCase()}/services/${acme.primary.toUpperCase()}/scaling`;
      const { status, json } = await server.call({ method: 'PATCH', path, key: acme.admin, body });
      expect(status).toBe(200);
      expect(json.result).toMatchObject({ id: acme.primary, numReplicas: 4 });
    });

    it('returns 400 with the name of the parameter for a malformed id', async () => {
      const { status, json } = await server.call({
        method: 'PATCH',
        path: `/v1/organizations/${acme.id}/services/analytics/scaling`,
        key: acme.admin,
        body,
      });
      expect(status).toBe(400);
      expect(json.error).toBe('BAD_REQUEST: path.serviceId: The value must be a valid uuid <string:analytics>');
    });

    it.each([['developer'], ['query']] as const)('R1: rejects the %s key', async (holder) => {
      expect((await patch('primary', body, { key: acme[holder] })).status).toBe(403);
      expect(await stored('primary')).toMatchObject({ numReplicas: 3 });
    });
  });
});
