import { describe, expect, it } from 'vitest';
import { acme, globex, initech } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const UNKNOWN = 'ffffffff-ffff-4fff-bfff-ffffffffffff';
const warehouse = '6de48484-c170-4164-a5bd-81c39c70f477';
const full = '7ef59595-d281-4275-b6ce-92d4ad810588';
const bare = '80a6a6a6-e392-4386-87df-a3e5be921699';

const details = {
  availablePrivateEndpointIds: ['vpce-2'],
  byocId: 'byoc-1',
  databaseVersion: '25.3',
  encryptionAssumedRoleIdentifier: 'role-1',
  encryptionKey: 'key-1',
  encryptionRoleId: 'role-2',
  endpoints: [{ protocol: 'mysql', host: 'db.example', port: 3306, username: 'default' }],
  hasTransparentDataEncryption: false,
  iamRole: 'arn:aws:iam::1:role/x',
  ipAccessList: [{ source: '10.0.0.0/8', description: 'office' }],
  isReadonly: false,
  privateEndpointIds: [],
  transparentDataEncryptionKeyId: 'tde-1',
};
const scaling = {
  idleScaling: true,
  idleTimeoutMinutes: 15,
  maxReplicaMemoryGb: 120,
  maxTotalMemoryGb: 360,
  minReplicaMemoryGb: 16,
  minTotalMemoryGb: 48,
  numReplicas: 3,
};
const currentScaling = {
  effectiveAutoscalingMode: 'vertical',
  effectiveIdleScaling: true,
  effectiveIdleTimeoutMinutes: 15,
  effectiveMaxReplicaMemoryGb: 120,
  effectiveMaxReplicas: 3,
  effectiveMinReplicaMemoryGb: 16,
  effectiveMinReplicas: 3,
};
/** Fields that our contract does not show and public clients need. */
const additional = {
  autoscalingMode: 'vertical',
  currentScaling,
  driver: 'simulated',
  tier: 'production',
  releaseChannel: 'default',
  profile: 'v1-default',
  enableCoreDumps: false,
};
/** S8: a simulated service says that nothing runs and nothing was observed. */
const simulated = (state: string) => ({
  state,
  since: expect.stringMatching(/Z$/),
  reason: 'Simulated: no process runs, and the state follows the commands',
  desiredState: 'running',
  generation: expect.any(Number),
  observedGeneration: expect.any(Number),
  requested: { replicas: 3, replicaMemoryGb: 16 },
  observed: {},
});
const fullRecord = {
  ...additional,
  ...details,
  ...scaling,
  clickhouseVersion: '25.3',
  state: 'idle',
  status: simulated('idle'),
  provider: 'aws',
  region: 'eu-west-1',
  id: full,
  name: 'full',
  dataWarehouseId: warehouse,
  isPrimary: true,
  createdAt: '2026-03-01T10:00:00Z',
};
const empty = Object.fromEntries(
  Object.entries(details).flatMap(([name, value]) => (typeof value === 'string' ? [[name, '']] : [])),
);

const detailed = {
  organizations: [
    {
      id: acme.id,
      name: 'Acme',
      paid: true,
      keys: [{ ...acme.admin, roles: ['admin'] }],
      services: [
        {
          ...details,
          id: full,
          name: 'full',
          dataWarehouseId: warehouse,
          createdAt: '2026-03-01T10:00:00.987Z',
          state: 'idle',
          provider: 'aws',
          region: 'eu-west-1',
        },
        {
          ...empty,
          id: bare,
          name: 'bare',
          createdAt: '2026-02-01T11:00:00+01:00',
          iamRole: null,
          endpoints: [{ protocol: 'https', host: 'h', port: 8443, username: '' }],
          ipAccessList: [{ source: '::1', description: '' }],
        },
      ],
    },
  ],
};

onEachStore('the service record', (store) => {
  const server = useServer(store, { fleet: detailed, args: ['--simulated-transition', '3s'] });
  const path = (id: string) => `/v1/organizations/${acme.id}/services/${id}`;

  it('S7: an update returns the fields that have a value, and no others', async () => {
    const { json } = await server.call({ method: 'PATCH', path: `${path(full)}/scaling`, key: acme.admin, body: {} });
    expect(json.result).toEqual(fullRecord);
  });

  it('S7: a field without a value is omitted, never null or empty', async () => {
    const { json } = await server.call({ method: 'PATCH', path: `${path(bare)}/scaling`, key: acme.admin, body: {} });
    expect(json.result).toEqual({
      ...additional,
      ...scaling,
      id: bare,
      name: 'bare',
      state: 'running',
      status: simulated('running'),
      createdAt: '2026-02-01T10:00:00Z',
      dataWarehouseId: json.result.dataWarehouseId,
      isPrimary: true,
      endpoints: [{ protocol: 'https', host: 'h', port: 8443 }],
      ipAccessList: [{ source: '::1' }],
    });
  });

  it('S8: a read returns the same record', async () => {
    const { json } = await server.call({ path: path(full), key: acme.admin });
    expect(json.result).toEqual(fullRecord);
  });

  it('S8: an idle service wakes up on command', async () => {
    const command = (text: string) =>
      server.call({ method: 'PATCH', path: `${path(full)}/state`, key: acme.admin, body: { command: text } });
    const { status, json } = await command('start');
    expect([status, json.error]).toEqual([
      409,
      'CONFLICT: The service is idle; send the command awake instead of start',
    ]);
    expect((await command('awake')).json.result.state).toBe('awaking');
    const read = () => server.call({ path: path(full), key: acme.admin });
    await until(read, (response) => response.json.result.state === 'running', 'the service does not wake up');
  });

  it('the list returns whole records, oldest first', async () => {
    const { json } = await server.call({ path: `/v1/organizations/${acme.id}/services`, key: acme.admin });
    expect(json.result.map(({ name }: { name: string }) => name)).toEqual(['bare', 'full']);
    expect(json.result[1]).toEqual((await server.call({ path: path(full), key: acme.admin })).json.result);
  });
});

onEachStore('reading services', (store) => {
  const server = useServer(store);
  const read = (organization: { id: string }, key: { keyId: string; keySecret: string }, rest = '') =>
    server.call({ path: `/v1/organizations/${organization.id}/services${rest}`, key });

  describe('M4: services of other organizations are not visible', () => {
    it.each([
      ['Acme', acme, [acme.primary, acme.secondary, acme.development]],
      ['Globex', globex, [globex.primary]],
      ['Initech', initech, [initech.primary]],
    ])('%s lists its services', async (_, organization, expected) => {
      const { status, json } = await read(organization, organization.admin);
      expect(status).toBe(200);
      expect(json.result.map(({ id }: { id: string }) => id)).toEqual(expected);
    });

    it.each([
      ['the list of another organization', globex, '', `organization ${globex.id} does not exist`],
      [
        'a service under another organization',
        globex,
        `/${globex.primary}`,
        `organization ${globex.id} does not exist`,
      ],
      ['the list of an unknown organization', { id: UNKNOWN }, '', `organization ${UNKNOWN} does not exist`],
      [
        'a service of another organization under its own path',
        acme,
        `/${globex.primary}`,
        `service ${globex.primary} does not exist`,
      ],
      ['a service that does not exist', acme, `/${UNKNOWN}`, `service ${UNKNOWN} does not exist`],
    ])('returns 404 for %s', async (_, organization, rest, text) => {
      const { status, json } = await read(organization, acme.admin, rest);
      expect([status, json.error]).toEqual([404, `NOT_FOUND: ${text}`]);
    });
  });

  it('M4: ids are case-insensitive', async () => {
    const { status, json } = await read({ id: acme.id.toUpperCase() }, acme.admin, `/${acme.primary.toUpperCase()}`);
    expect([status, json.result.id]).toEqual([200, acme.primary]);
  });

  it.each(['x', `${acme.primary}0`, `urn:uuid:${acme.primary}`, acme.primary.replaceAll('-', ''), `{${acme.primary}}`])(
    'M4: rejects the malformed id %s',
    async (id) => {
      const { status, json } = await read(acme, acme.admin, `/${encodeURIComponent(id)}`);
      expect([status, json.error]).toEqual([
        400,
        `BAD_REQUEST: path.serviceId: The value must be a valid uuid <string:${id}>`,
      ]);
    },
  );

  it('R1: admits developer and rejects query_endpoints', async () => {
    expect((await read(acme, acme.developer)).status).toBe(200);
    expect((await read(acme, acme.developer, `/${acme.primary}`)).status).toBe(200);
    expect((await read(acme, acme.query)).status).toBe(403);
    expect((await read(acme, acme.query, `/${acme.primary}`)).status).toBe(403);
  });

  it.each(['', `/${acme.primary}`])('B4: services%s rejects unknown query parameters by name', async (rest) => {
    const { status, json } = await read(acme, acme.admin, `${rest}?page=2&size=10`);
    expect([status, json.error]).toEqual([
      400,
      'BAD_REQUEST: query.page: Unknown parameter <string:2>; query.size: Unknown parameter <string:10>',
    ]);
  });
});
