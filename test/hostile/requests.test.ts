import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import type { ApiResponse, Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { anyBody, mutateBody, query, segment, TROUBLESOME } from '../support/hostile.ts';
import { head, type RawResponse, sendRaw } from '../support/raw.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { expectFailure, UUID_V4 } from '../support/shapes.ts';

const organization = `/v1/organizations/${acme.id}`;
const service = `${organization}/services/${acme.primary}`;
const authorization = `Basic ${Buffer.from(`${acme.admin.keyId}:${acme.admin.keySecret}`).toString('base64')}`;
/** More with `npm run hostile`. */
const NUM_RUNS = process.env.HOSTILE_REQUESTS === undefined ? 30 : 200;
const RUNS = { numRuns: NUM_RUNS, endOnFailure: true };

const GOOD_SCALING = [
  { numReplicas: 4 },
  { idleScaling: false, idleTimeoutMinutes: 30 },
  { minTotalMemoryGb: 60, maxTotalMemoryGb: 120, numReplicas: 2 },
];
const GOOD_REPLICA_SCALING = [
  { numReplicas: 5 },
  { minReplicaMemoryGb: 16, maxReplicaMemoryGb: 64, autoscalingMode: 'vertical' },
];
const GOOD_KEY = [
  { name: 'ci', roles: ['developer'], state: 'enabled' },
  {
    name: 'late',
    expireAt: '2099-01-01T00:00:00Z',
    ipAccessList: [{ source: '10.0.0.0/8', description: 'office' }, { source: '::1' }],
  },
];
const GOOD_HASHED_KEY = {
  name: 'hashed',
  hashData: { keyIdHash: `${'C'.repeat(43)}=`, keyIdSuffix: 'abcd', keySecretHash: `${'D'.repeat(43)}=` },
};

onEachStore('hostile input', (store) => {
  const server = useServer(store, { args: ['--max-keys', '100000'] });
  let target = '';
  let last: unknown;

  /** Everything that a request could have changed, except the time a key was last used. */
  const stored = async (): Promise<unknown> => {
    // Read after every request, so without the checks of `call`, which take longer than the request.
    const read = async (path: string): Promise<Json> => {
      const response = await fetch(server.url + organization + path, { headers: { authorization } });
      expect(response.status).toBe(200);
      return ((await response.json()) as Json).result;
    };
    const keys = (await read('/keys')).map(({ usedAt: _, ...key }: { usedAt?: string }) => key);
    return { services: await read('/services'), keys, newest: (await read('/activities?limit=1'))[0]?.id };
  };

  const expectEnvelope = async (path: string, response: ApiResponse | RawResponse): Promise<void> => {
    if (response.status === 200) {
      expect(response.json).toMatchObject({ requestId: expect.stringMatching(UUID_V4), status: 200 });
      last = await stored();
      return;
    }
    expect(response.status, response.text).toBeLessThan(500);
    expectFailure(path, response, response.status);
    expect(await stored()).toEqual(last);
  };

  beforeAll(async () => {
    const keys = await server.call({ path: `${organization}/keys`, key: acme.admin });
    target = keys.json.result.find(({ name }: { name: string }) => name === 'query').id;
    last = await stored();
  });

  it.each([
    ['PATCH', () => `${service}/scaling`, GOOD_SCALING],
    ['PATCH', () => `${service}/replicaScaling`, GOOD_REPLICA_SCALING],
    ['POST', () => `${organization}/keys`, [...GOOD_KEY, GOOD_HASHED_KEY]],
    ['PATCH', () => `${organization}/keys/${target}`, GOOD_KEY],
  ] as const)(
    'B2–B5: %s with any body gets a response in the envelope, and a rejected request changes nothing (%#)',
    { timeout: 120_000 },
    async (method, pathOf, good) => {
      const path = pathOf();
      const body = fc.oneof({ weight: 1, arbitrary: anyBody }, { weight: 4, arbitrary: mutateBody(good) });
      const property = fc.asyncProperty(body, async (text) => {
        await expectEnvelope(
          path,
          await server.call({ method, path, key: acme.admin, text, headers: { 'content-type': 'application/json' } }),
        );
      });
      await fc.assert(property, RUNS);
    },
  );

  const raw = (method: string, path: string) => {
    const lines = [
      `${method} ${path} HTTP/1.1`,
      'Host: h',
      `Authorization: ${authorization}`,
      'Connection: close',
      ...(method === 'GET' ? [] : ['Content-Length: 0']),
    ];
    return sendRaw(server.url, Buffer.from(head(...lines), 'latin1'));
  };

  const DATES = [
    '2026-10-01',
    '2026-10-31',
    '2026-11-01',
    '0000-01-01',
    '9999-12-31',
    '2026-13-01',
    '2026-10-01T00:00:00Z',
    '2026-10-01T23:59:60%2B14:00',
    '-1',
    '1e3',
  ];

  it.each([
    ['usageCost', ['from_date', 'to_date'], DATES],
    [
      'activities',
      ['from_date', 'to_date', 'before', 'limit'],
      [...DATES, '1', '1000', '1001', '0', '00', '٣', acme.id, acme.id.toUpperCase()].map(encoded),
    ],
  ])('B2, B4: any query of %s gets a response in the envelope', { timeout: 120_000 }, async (name, names, values) => {
    const property = fc.asyncProperty(query(names, values), async (text) => {
      const path = `${organization}/${name}`;
      await expectEnvelope(path, await raw('GET', `${path}?${text}`));
    });
    await fc.assert(property, RUNS);
  });

  it('B2, M4: any path below /v1 gets a response in the envelope', { timeout: 120_000 }, async () => {
    const place = fc.constantFrom(
      (text: string) => ['GET', `/v1/${text}`],
      (text: string) => ['GET', `/v1/organizations/${text}`],
      (text: string) => ['GET', `${organization}/services/${text}`],
      (text: string) => ['PATCH', `${organization}/services/${text}/scaling`],
      (text: string) => ['DELETE', `${organization}/keys/${text}`],
      (text: string) => ['GET', `${organization}/activities/${text}/${text}`],
    );
    const property = fc.asyncProperty(place, segment, async (make, text) => {
      const [method = '', path = ''] = make(text);
      await expectEnvelope(path, await raw(method, path));
    });
    await fc.assert(property, RUNS);
  });

  it('B2, D3: any dashboard id returns 404 or is rejected as a malformed URL', { timeout: 120_000 }, async () => {
    const property = fc.asyncProperty(segment, async (text) => {
      const path = `/api/v2/dashboards/${text}`;
      const response = await sendRaw(
        server.url,
        Buffer.from(
          head(`GET ${path} HTTP/1.1`, 'Host: h', `Authorization: Bearer ${acme.token}`, 'Connection: close'),
          'latin1',
        ),
      );
      expect([400, 404]).toContain(response.status);
      expectFailure(path, response, response.status);
    });
    await fc.assert(property, RUNS);
  });

  // Last, because they create many keys, which the other tests would list after every request.
  const onlyMember = (...names: string[]) => names.map((name) => (value: unknown) => ({ [name]: value }));
  const hashed = onlyMember('keyIdHash', 'keyIdSuffix', 'keySecretHash').map((make) => (value: unknown) => ({
    hashData: { ...GOOD_HASHED_KEY.hashData, ...make(value) },
  }));
  const listed = [
    (value: unknown) => ({ ipAccessList: [{ source: value }] }),
    (value: unknown) => ({ ipAccessList: [{ source: '::1', description: value }] }),
  ];
  const keyMembers = [
    ...onlyMember('name', 'state', 'roles', 'expireAt', 'ipAccessList', 'hashData'),
    ...listed,
    (value: unknown) => ({ roles: [value] }),
  ];

  it.each([
    [
      'scaling',
      'PATCH',
      () => `${service}/scaling`,
      onlyMember('numReplicas', 'idleScaling', 'idleTimeoutMinutes', 'minTotalMemoryGb', 'maxTotalMemoryGb'),
    ],
    [
      'replicaScaling',
      'PATCH',
      () => `${service}/replicaScaling`,
      onlyMember('numReplicas', 'idleTimeoutMinutes', 'minReplicaMemoryGb', 'maxReplicaMemoryGb', 'autoscalingMode'),
    ],
    ['a new key', 'POST', () => `${organization}/keys`, [...keyMembers, ...hashed]],
    ['a key', 'PATCH', () => `${organization}/keys/${target}`, keyMembers],
  ] as const)(
    'B2–B5: every troublesome value in every member of %s is accepted or rejected, never a server error',
    { timeout: 120_000 },
    async (_, method, pathOf, members) => {
      const path = pathOf();
      for (const make of members) {
        const responses = await Promise.all(
          TROUBLESOME.map((value) => server.call({ method, path, key: acme.admin, body: make(value) })),
        );
        for (const response of responses)
          if (response.status !== 200) expectFailure(path, response, response.status === 409 ? 409 : 400);
      }
    },
  );
});

function encoded(text: string): string {
  return /^[\x21-\x7e]*$/.test(text) ? text : encodeURIComponent(text);
}
