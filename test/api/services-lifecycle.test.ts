import { describe, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme, globex, initech } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const UNKNOWN = 'ffffffff-ffff-4fff-bfff-ffffffffffff';
const wanted = { name: 'created', provider: 'aws', region: 'eu-central-1' };

onEachStore('the lifecycle of a service', (store) => {
  const server = useServer(store, {
    args: ['--max-services', '12', '--simulated-transition', '300ms'],
    inProcess: false,
  });
  const services = `/v1/organizations/${acme.id}/services`;
  const send = (method: string, path: string, body?: unknown, key = acme.admin) =>
    server.call({ method, path, key, ...(body === undefined ? {} : { body }) });
  const create = async (body: object = {}): Promise<Json> => {
    const { status, json } = await send('POST', services, { ...wanted, ...body });
    expect(status, JSON.stringify(json)).toBe(200);
    return json.result;
  };
  const read = async (id: string): Promise<Json> => (await send('GET', `${services}/${id}`)).json.result;
  const command = (id: string, text: string) => send('PATCH', `${services}/${id}/state`, { command: text });
  const untilState = (id: string, state: string): Promise<Json> =>
    until(
      () => read(id),
      (record) => record.state === state,
      `the service does not become ${state}`,
    );
  const remove = async (id: string) => {
    await command(id, 'stop');
    await untilState(id, 'stopped');
    expect((await send('DELETE', `${services}/${id}`)).status).toBe(200);
  };
  const listTypes = async (id: string): Promise<string[]> =>
    (await send('GET', `/v1/organizations/${acme.id}/activities?resource_id=${id}`)).json.result.map(
      ({ activityType, type }: Json) => activityType ?? type,
    );

  it('S8: creates, stops, starts and deletes a simulated service, with a state that follows the commands', async () => {
    const { service, password } = await create();
    expect(service).toMatchObject({
      ...wanted,
      state: 'provisioning',
      driver: 'simulated',
      isPrimary: true,
      isReadonly: false,
      numReplicas: 3,
      minTotalMemoryGb: 48,
      maxReplicaMemoryGb: 120,
      idleScaling: true,
      idleTimeoutMinutes: 15,
      ipAccessList: [],
      tags: [],
      autoscalingMode: 'vertical',
    });
    expect(password).toMatch(/^php_[0-9A-Za-z]{49}$/);
    const { id } = service;
    await untilState(id, 'running');
    expect((await command(id, 'start')).json.result.state).toBe('running');

    const refused = await send('DELETE', `${services}/${id}`);
    expect([refused.status, refused.json.error]).toEqual([
      409,
      'CONFLICT: The service is running; stop it before you delete it',
    ]);
    expect((await command(id, 'stop')).json.result.state).toBe('stopping');
    await untilState(id, 'stopped');
    expect((await command(id, 'awake')).json.error).toBe(
      'CONFLICT: The service is stopped; send the command start instead of awake',
    );
    expect((await command(id, 'start')).json.result.state).toBe('starting');
    await untilState(id, 'running');
    await remove(id);
    const gone = await send('GET', `${services}/${id}`);
    expect([gone.status, gone.json.error]).toEqual([404, `NOT_FOUND: service ${id} does not exist`]);
    expect(await listTypes(id)).toEqual([
      'service_delete',
      'service_stop',
      'service_start',
      'service_stop',
      'service_create',
    ]);
  });

  it('S8: a command during a transition wins', async () => {
    const { service } = await create();
    expect((await command(service.id, 'stop')).json.result.state).toBe('stopping');
    expect((await command(service.id, 'start')).json.result.state).toBe('starting');
    expect((await untilState(service.id, 'running')).id).toBe(service.id);
    await remove(service.id);
  });

  it('a tier is shown only if the client chose one', async () => {
    const left = (await create()).service;
    const production = (await create({ tier: 'production' })).service;
    expect([left.tier, production.tier]).toEqual([undefined, 'production']);
    expect((await read(production.id)).tier).toBe('production');
    expect(await read(left.id)).not.toHaveProperty('tier');
    // Without a tier the rules are those of a production service.
    const path = `${services}/${left.id}/scaling`;
    expect((await send('PATCH', path, { minTotalMemoryGb: 96 })).json.result).toMatchObject({
      minReplicaMemoryGb: 32,
      provider: 'aws',
      region: 'eu-central-1',
    });
    await untilState(production.id, 'running');
    const changed = await send('PATCH', `${services}/${production.id}/scaling`, { minTotalMemoryGb: 96 });
    expect(changed.json.result).toEqual(await read(production.id));
    expect(changed.json.result).toMatchObject({ tier: 'production', state: expect.any(String), provider: 'aws' });
    await Promise.all([remove(left.id), remove(production.id)]);
  });

  it('the password is stored as a hash only, and is generated unless the client sends one', async () => {
    const { service, password } = await create();
    const path = `${services}/${service.id}/password`;
    const reset = await send('PATCH', path, {});
    expect(reset.headers.get('cache-control')).toBe('no-store');
    expect(reset.json.result.password).toMatch(/^php_/);
    expect(reset.json.result.password).not.toBe(password);
    const newPasswordHash = 'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=';
    const newDoubleSha1Hash = '94bdcebe19083ce2a1f959fd02f964c7af4cfc29';
    expect((await send('PATCH', path, { newPasswordHash, newDoubleSha1Hash })).json.result).toEqual({});
    // As Terraform sends it.
    expect((await send('PATCH', path, { newPasswordHash, newDoubleSha1Hash: '' })).json.result).toEqual({});
    const wrong = await send('PATCH', path, { newPasswordHash: 'secret-text', newDoubleSha1Hash: 'secret-text' });
    expect([wrong.status, wrong.json.error]).toEqual([
      400,
      'BAD_REQUEST: request body.newPasswordHash: The value must be a SHA-256 in base64, 44 characters <string>; request body.newDoubleSha1Hash: The value must be a double SHA-1 in hexadecimal, 40 characters <string>',
    ]);
    expect((await send('PATCH', path, { newDoubleSha1Hash })).status).toBe(400);
    const { text } = await send('GET', `/v1/organizations/${acme.id}/activities`);
    const record = JSON.stringify(await read(service.id));
    for (const secret of [password, reset.json.result.password, newPasswordHash, newDoubleSha1Hash]) {
      expect(text).not.toContain(secret);
      expect(record).not.toContain(secret);
    }
    expect(server.log()).not.toContain(password);
    await remove(service.id);
  });

  it('B4: an update changes the name, the IP access list and the tags', async () => {
    const { service } = await create({
      ipAccessList: [{ source: '10.0.0.0/8', description: 'office', extra: 1 }],
      tags: [{ key: 'team', value: 'data' }, { key: 'old' }],
    });
    const path = `${services}/${service.id}`;
    const { json } = await send('PATCH', path, {
      name: 'renamed',
      ipAccessList: { add: [{ source: '0.0.0.0/0', description: 'Anywhere' }], remove: [{ source: '10.0.0.0/8' }] },
      tags: { add: [{ key: 'team', value: 'web' }], remove: [{ key: 'old' }] },
      releaseChannel: 'default',
      privateEndpointIds: { add: [], remove: [] },
      endpoints: [{ protocol: 'mysql', enabled: false }],
      enableCoreDumps: false,
      unknownMember: 1,
    });
    const expected = {
      name: 'renamed',
      ipAccessList: [{ source: '0.0.0.0/0', description: 'Anywhere' }],
      tags: [{ key: 'team', value: 'web' }],
    };
    expect(json.result).toMatchObject(expected);
    expect(await read(service.id)).toMatchObject(expected);
    expect((await send('PATCH', path, {})).json.result).toMatchObject(expected);
    expect(await listTypes(service.id)).toEqual([
      'service_update_tags',
      'service_update_ip_access_list',
      'service_update_name',
      'service_create',
    ]);
    await remove(service.id);
  });

  it.each([
    [{ releaseChannel: 'fast' }, 'request body.releaseChannel: default is the only release channel <string:fast>'],
    [
      { endpoints: [{ protocol: 'mysql', enabled: true }] },
      'request body.endpoints: Services have no MySQL endpoint; set enabled to false <array>',
    ],
    [
      { privateEndpointIds: { add: ['vpce-1'] } },
      'request body.privateEndpointIds: Private endpoints are not supported <object>',
    ],
    [{ name: '' }, 'request body.name: The value must not be empty <string:>'],
    [
      { ipAccessList: { add: [{ source: '10.0.0.0/99' }] } },
      'request body.ipAccessList.add[0].source: The value must be an IPv4 or IPv6 address or a CIDR <string:10.0.0.0/99>',
    ],
    [
      { tags: { add: [{ key: 'a b' }] } },
      'request body.tags.add[0].key: The value may contain letters, digits, dots, dashes and underscores only <string:a b>',
    ],
  ])('B4: an update rejects %j', async (body, text) => {
    const { status, json } = await send('PATCH', `${services}/${acme.primary}`, body);
    expect([status, json.error]).toEqual([400, `BAD_REQUEST: ${text}`]);
  });

  it.each([
    [{ name: undefined }, 'request body.name: The value is required <missing>'],
    [{ region: 'us-east1' }, 'request body.region: The provider aws has no such region <string:us-east1>'],
    [
      { isReadonly: true },
      'request body.isReadonly: Only a service that joins a warehouse can be read-only; give its dataWarehouseId <boolean:true>',
    ],
    [
      { dataWarehouseId: UNKNOWN },
      `request body.dataWarehouseId: The organization has no such warehouse <string:${UNKNOWN}>`,
    ],
    [
      { numReplicas: 1 },
      'request body.numReplicas: The first service of a warehouse must have at least 2 replicas <number:1>',
    ],
    [
      { minReplicaMemoryGb: 64, maxReplicaMemoryGb: 32 },
      'request body.minReplicaMemoryGb: The minimum of 64 GB must not exceed the maximum of 32 GB <number:64>',
    ],
    [
      { minReplicaMemoryGb: 16, minTotalMemoryGb: 24 },
      'request body.minTotalMemoryGb: The value must be 3 times minReplicaMemoryGb <number:24>',
    ],
    [
      { tier: 'development', numReplicas: 5 },
      'request body.numReplicas: The size of a development service cannot be changed <number:5>',
    ],
    [{ backupId: UNKNOWN }, `request body.backupId: The organization has no such backup <string:${UNKNOWN}>`],
    [
      { byocId: 'x' },
      'request body.byocId: Services run where the control plane runs, not in an account of a provider <string:x>',
    ],
    [{ complianceType: 'pci' }, 'request body.complianceType: There is no HIPAA or PCI deployment <string:pci>'],
    [
      { profile: 'v1-highmem' },
      'request body.profile: v1-default is the only profile; memory and CPU have a fixed ratio <string:v1-highmem>',
    ],
    [
      { driver: 'kubernetes' },
      'request body.driver: A service with the driver kubernetes must be declared in the fleet file <string:kubernetes>',
    ],
    [
      { hasTransparentDataEncryption: true },
      'request body.hasTransparentDataEncryption: Transparent data encryption is not supported <boolean:true>',
    ],
  ])('B4: creation rejects %j', async (body, text) => {
    const { status, json } = await send('POST', services, { ...wanted, ...body });
    expect([status, json.error]).toEqual([400, `BAD_REQUEST: ${text}`]);
  });

  it.each([{ provider: 'ibm' }, { region: 'dc1' }, { numReplicas: 21 }, { tags: [{ key: '' }] }])(
    'creation rejects %j',
    async (body) => {
      expect((await send('POST', services, { ...wanted, ...body })).status).toBe(400);
    },
  );

  it('a service joins the warehouse of another, which is deleted last', async () => {
    const first = (await create()).service;
    const { service: second } = await create({
      dataWarehouseId: first.dataWarehouseId.toUpperCase(),
      isReadonly: true,
      numReplicas: 1,
    });
    expect(second).toMatchObject({
      dataWarehouseId: first.dataWarehouseId,
      isPrimary: false,
      isReadonly: true,
      numReplicas: 1,
    });
    const elsewhere = await send('POST', services, {
      ...wanted,
      region: 'us-east-1',
      dataWarehouseId: first.dataWarehouseId,
    });
    expect(elsewhere.json.error).toBe(
      'BAD_REQUEST: request body.region: The region must be that of the warehouse, eu-central-1 <string:us-east-1>',
    );
    await command(first.id, 'stop');
    await untilState(first.id, 'stopped');
    const refused = await send('DELETE', `${services}/${first.id}`);
    expect([refused.status, refused.json.error]).toEqual([
      409,
      `CONFLICT: The service is the first of its warehouse; delete the other services of the warehouse first: ${second.id}`,
    ]);
    await remove(second.id);
    expect((await send('DELETE', `${services}/${first.id}`)).status).toBe(200);
    const foreign = await send(
      'POST',
      `/v1/organizations/${globex.id}/services`,
      { ...wanted, dataWarehouseId: acme.warehouse },
      globex.admin,
    );
    expect(foreign.status).toBe(400);
  });

  it('S2: a service of a BASIC organization has one small replica', async () => {
    const path = `/v1/organizations/${initech.id}/services`;
    const { json } = await send('POST', path, wanted, initech.admin);
    expect(json.result.service).toMatchObject({ numReplicas: 1, minReplicaMemoryGb: 8, maxReplicaMemoryGb: 8 });
    expect((await send('POST', path, { ...wanted, numReplicas: 2 }, initech.admin)).status).toBe(400);
  });

  it('an Idempotency-Key makes a repeated creation harmless, and the replay has no password', async () => {
    const headers = { 'idempotency-key': 'create-once' };
    const call = { method: 'POST', path: services, key: acme.admin, body: wanted, headers };
    const first = await server.call(call);
    const second = await server.call(call);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(second.json.result.service.id).toBe(first.json.result.service.id);
    expect(second.json.result).not.toHaveProperty('password');
    await remove(first.json.result.service.id);
  });

  it('the number of services of an organization is limited', async () => {
    const { json } = await send('GET', services);
    const room = 12 - json.result.length;
    const responses = await Promise.all(Array.from({ length: room + 2 }, () => send('POST', services, wanted)));
    expect(responses.map(({ status }) => status).sort()).toEqual([...Array(room).fill(200), 409, 409]);
    expect(responses.find(({ status }) => status === 409)?.json.error).toBe(
      'CONFLICT: The organization has reached its limit of 12 services; delete one first',
    );
    await Promise.all(
      responses.flatMap(({ status, json }) => (status === 200 ? [remove(json.result.service.id)] : [])),
    );
  });

  describe('M4, R1: only admins of the organization', () => {
    it.each([
      ['POST', services, wanted],
      ['PATCH', `${services}/${acme.primary}`, { name: 'x' }],
      ['DELETE', `${services}/${acme.primary}`, undefined],
      ['PATCH', `${services}/${acme.primary}/state`, { command: 'stop' }],
      ['PATCH', `${services}/${acme.primary}/password`, {}],
    ])('%s %s', async (method, path, body) => {
      expect((await send(method, path, body, acme.developer)).status).toBe(403);
      expect((await send(method, path, body, globex.admin)).status).toBe(404);
      if (path !== services)
        expect((await send(method, path.replace(acme.primary, globex.primary), body)).status).toBe(404);
    });
  });

  it('a state command must be one of the three', async () => {
    for (const body of [{}, { command: 'reboot' }, { command: 1 }])
      expect((await send('PATCH', `${services}/${acme.primary}/state`, body)).status).toBe(400);
  });
});
