import { describe, expect, it } from 'vitest';
import type { ApiResponse, Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const services = `/v1/organizations/${acme.id}/services`;

/** The requests that the Terraform provider was seen to send, in its order. The provider itself is not in a registry we use. */
onEachStoreInLongRuns('the requests of the Terraform provider', (store) => {
  const server = useServer(store);

  const send = (method: string, path: string, body?: object): Promise<ApiResponse> =>
    server.call({ method, path: `${services}${path}`, key: acme.admin, ...(body ? { body } : {}) });
  const succeed = async (method: string, path: string, body?: object): Promise<Json> => {
    const { status, json, text } = await send(method, path, body);
    expect(status, `${method} ${path} ${text}`).toBe(200);
    return json.result;
  };
  /** As the provider reads a service: a 404 of any part but the query endpoint means that the service is gone. */
  const refresh = async (id: string): Promise<Json> => {
    const record = await succeed('GET', `/${id}`);
    await succeed('GET', `/${id}/privateEndpointConfig`);
    await succeed('GET', `/${id}/backupConfiguration`);
    expect([200, 404]).toContain((await send('GET', `/${id}/serviceQueryEndpoint`)).status);
    return record;
  };
  const untilState = (id: string, state: string) =>
    until(
      () => succeed('GET', `/${id}`),
      (record) => record.state === state,
      `the service does not become ${state}`,
    );
  const create = async (body: object): Promise<Json> => {
    const base = {
      provider: 'aws',
      region: 'us-east-1',
      ipAccessList: [{ source: '10.0.0.0/8', description: 'office' }],
    };
    const { service, password } = await succeed('POST', '', { ...base, ...body });
    expect(password).toMatch(/\S/);
    await untilState(service.id, 'running');
    return service;
  };
  const destroy = async (id: string): Promise<void> => {
    await succeed('PATCH', `/${id}/state`, { command: 'stop' });
    await untilState(id, 'stopped');
    await succeed('DELETE', `/${id}`);
    expect((await send('GET', `/${id}`)).status).toBe(404);
  };

  it('import and an empty plan: two reads are equal', async () => {
    expect(await refresh(acme.primary)).toEqual(await refresh(acme.primary));
  });

  it('create, resize, rename, change the addresses and the password, destroy', async () => {
    const { id } = await create({
      name: 'from terraform',
      minReplicaMemoryGb: 16,
      maxReplicaMemoryGb: 32,
      numReplicas: 3,
    });
    expect(await refresh(id)).toMatchObject({ minReplicaMemoryGb: 16, maxReplicaMemoryGb: 32, numReplicas: 3 });
    const hash = { newPasswordHash: Buffer.alloc(32, 7).toString('base64') };
    await succeed('PATCH', `/${id}/password`, hash);
    await succeed('PATCH', `/${id}/replicaScaling`, { minReplicaMemoryGb: 24, maxReplicaMemoryGb: 48, numReplicas: 4 });
    const ipAccessList = {
      add: [{ source: '192.0.2.0/24', description: 'lab' }],
      remove: [{ source: '10.0.0.0/8', description: 'office' }],
    };
    await succeed('PATCH', `/${id}`, { name: 'renamed', ipAccessList });
    expect(await refresh(id)).toMatchObject({
      name: 'renamed',
      minReplicaMemoryGb: 24,
      maxReplicaMemoryGb: 48,
      numReplicas: 4,
      ipAccessList: [{ source: '192.0.2.0/24', description: 'lab' }],
    });
    await destroy(id);
  });

  describe('the tier', () => {
    it('is what the configuration says, and left out where it says nothing', async () => {
      const explicit = await create({ name: 'explicit', tier: 'production' });
      expect((await refresh(explicit.id)).tier).toBe('production');
      const omitted = await create({ name: 'omitted' });
      expect((await refresh(omitted.id)).tier).toBeUndefined();
      await Promise.all([destroy(explicit.id), destroy(omitted.id)]);
    });
  });

  it('a service that does not exist is a 404', async () => {
    const id = '11111111-1111-4111-8111-111111111111';
    for (const part of ['', '/privateEndpointConfig', '/backupConfiguration'])
      expect((await send('GET', `/${id}${part}`)).status).toBe(404);
  });

  const SAVED_SEARCH = { select: '', where: '', whereLanguage: 'lucene', orderBy: '', tags: [], filters: [] };
  const BODIES: [string, (name: string) => object][] = [
    [
      'sources',
      (name: string) => ({
        name,
        kind: 'log',
        connection: 'engine',
        from: { databaseName: 'shop', tableName: 'events' },
        timestampValueExpression: 'At',
        resourceAttributesExpression: 'ResourceAttributes',
      }),
    ],
    [
      'sources',
      (name: string) => ({
        name,
        kind: 'trace',
        connection: 'engine',
        from: { databaseName: 'shop', tableName: 'spans' },
        timestampValueExpression: 'At',
      }),
    ],
    [
      'dashboards',
      (name: string) => ({
        name,
        tags: ['shop'],
        tiles: [
          { name: 'Text', x: 12, y: 0, w: 12, h: 4, config: { displayType: 'markdown', markdown: '# Hello' } },
          {
            name: 'Errors',
            x: 0,
            y: 0,
            w: 12,
            h: 4,
            config: {
              displayType: 'line',
              sourceId: 'logs',
              select: [{ aggFn: 'count', alias: 'errors', where: 'SeverityText:ERROR', whereLanguage: 'lucene' }],
              groupBy: 'ServiceName',
              lineInterpolation: 'step',
            },
          },
        ],
      }),
    ],
    ['saved-searches', (name: string) => ({ name, sourceId: 'logs', ...SAVED_SEARCH })],
    [
      'saved-searches',
      (name: string) => ({
        ...SAVED_SEARCH,
        name,
        sourceId: 'traces',
        where: 'Duration > 100',
        whereLanguage: 'sql',
        tags: ['production'],
        filters: [{ type: 'sql', condition: "ServiceName IN ('checkout')" }],
      }),
    ],
  ];
  /** The provider has the settings of a self-hosted ClickStack, or of one at a service. */
  const MODES = [
    { mode: 'clickstack_endpoint', base: '/api/v2', member: 'data', credentials: { token: acme.writer } },
    {
      mode: 'clickstack_service_id',
      base: `${services}/${acme.primary}/clickstack`,
      member: 'result',
      credentials: { key: acme.admin },
    },
  ];
  const cases = MODES.flatMap((mode) => BODIES.map(([kind, toBody]) => ({ ...mode, kind, toBody })));

  it.each(cases)('$kind with $mode: create, an empty plan, update, destroy', async (one) => {
    const { base, member, credentials, kind, toBody } = one;
    const call = async (method: string, path: string, body?: object) => {
      const response = await server.call({
        method,
        path: `${base}/${kind}${path}`,
        ...credentials,
        ...(body ? { body } : {}),
      });
      return { ...response, record: response.json?.[member] as Json };
    };
    const created = await call('POST', '', toBody('from terraform'));
    expect(created.record, created.text).toMatchObject(toBody('from terraform'));
    const { id } = created.record;
    // The provider rejects a source that comes back with members that it did not send.
    if (kind === 'sources') expect(created.record).toEqual({ id, ...toBody('from terraform') });
    // A plan compares the record with the configuration.
    expect((await call('GET', `/${id}`)).record).toEqual(created.record);
    expect((await call('PUT', `/${id}`, toBody('renamed'))).record).toMatchObject(toBody('renamed'));
    expect((await call('GET', `/${id}`)).record).toMatchObject(toBody('renamed'));
    expect((await call('DELETE', `/${id}`)).status).toBe(200);
    expect((await call('GET', `/${id}`)).status).toBe(404);
  });
});
