import { describe, expect, it } from 'vitest';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

onEachStore('the settings of a service', (store) => {
  const server = useServer(store);
  const service = `/v1/organizations/${acme.id}/services/${acme.primary}`;
  const send = (method: string, path: string, body?: unknown, key = acme.admin) =>
    server.call({ method, path: `${service}/${path}`, key, ...(body === undefined ? {} : { body }) });
  const listTypes = async (limit: number): Promise<string[]> =>
    (
      await server.call({
        path: `/v1/organizations/${acme.id}/activities?resource_id=${acme.primary}&limit=${limit}`,
        key: acme.admin,
      })
    ).json.result.map(({ type }: { type: string }) => type);

  it('there are no private endpoints', async () => {
    expect((await send('GET', 'privateEndpointConfig')).json.result).toEqual({});
  });

  it('the backup configuration has defaults and can be changed', async () => {
    const path = 'backupConfiguration';
    const defaults = { backupPeriodInHours: 24, backupRetentionPeriodInHours: 24 };
    expect((await send('GET', path)).json.result).toEqual(defaults);
    // As Terraform sends it.
    const change = { backupPeriodInHours: null, backupRetentionPeriodInHours: 48, backupStartTime: '03:30' };
    const expected = { backupPeriodInHours: 24, backupRetentionPeriodInHours: 48, backupStartTime: '03:30' };
    expect((await send('PATCH', path, change)).json.result).toEqual(expected);
    expect((await send('GET', path)).json.result).toEqual(expected);
    expect((await send('PATCH', path, { backupPeriodInHours: 12 })).json.result).toEqual({
      backupPeriodInHours: 12,
      backupRetentionPeriodInHours: 48,
    });
    expect((await send('PATCH', path, {})).json.result.backupPeriodInHours).toBe(12);
    expect(await listTypes(3)).toEqual([
      'service_update_backup_configuration',
      'service_update_backup_configuration',
      'service_create',
    ]);
  });

  it.each([
    [
      { backupPeriodInHours: 8, backupRetentionPeriodInHours: 4 },
      'backupRetentionPeriodInHours: The retention of 4 hours must be at least the period of 8 hours <number:4>',
    ],
    [
      { backupPeriodInHours: 8, backupStartTime: '03:30' },
      'backupPeriodInHours: The value must be 24 with a backupStartTime <number:8>',
    ],
    [{ backupStartTime: '24:00' }, 'backupStartTime: The value must be a time (HH:MM) <string:24:00>'],
    [{ backupPeriodInHours: 0 }, 'backupPeriodInHours: The value must be at least 1 <number:0>'],
  ])('the backup configuration rejects %j', async (body, text) => {
    const { status, json } = await send('PATCH', 'backupConfiguration', body);
    expect([status, json.error]).toEqual([400, `BAD_REQUEST: request body.${text}`]);
  });

  it('the query endpoint is created, replaced and deleted', async () => {
    const path = 'serviceQueryEndpoint';
    const missing = await send('GET', path);
    expect([missing.status, missing.json.error]).toEqual([
      404,
      `NOT_FOUND: service ${acme.primary} has no query endpoint`,
    ]);
    const keys = (await server.call({ path: `/v1/organizations/${acme.id}/keys`, key: acme.admin })).json.result;
    const body = { roles: ['sql_console_read_only'], openApiKeys: [keys[0].id] };
    const { json } = await send('POST', path, body);
    expect(json.result).toEqual({ ...body, id: expect.any(String), allowedOrigins: '' });
    expect((await send('GET', path)).json.result).toEqual(json.result);
    const replaced = { roles: ['sql_console_admin'], openApiKeys: [keys[1].id], allowedOrigins: 'https://a.example' };
    expect((await send('POST', path, replaced)).json.result).toEqual({ ...replaced, id: json.result.id });
    expect((await send('DELETE', path)).status).toBe(200);
    expect((await send('DELETE', path)).status).toBe(404);
    expect(await listTypes(3)).toEqual(Array(3).fill('service_update_query_endpoints'));
    const unknown = await send('POST', path, { ...body, openApiKeys: [acme.primary] });
    expect([unknown.status, unknown.json.error]).toEqual([
      400,
      `BAD_REQUEST: request body.openApiKeys[0]: The organization has no such key <string:${acme.primary}>`,
    ]);
    expect((await send('POST', path, { roles: [], openApiKeys: [] })).status).toBe(400);
  });

  it('the entry of the scaling schedule that covers the present is in effect', async () => {
    const path = 'scalingSchedule';
    const base = {
      autoscalingMode: 'vertical',
      minReplicaMemoryGb: 16,
      maxReplicaMemoryGb: 120,
      minReplicas: 3,
      maxReplicas: 3,
      idleScaling: true,
      idleTimeoutMinutes: 15,
    };
    expect((await send('GET', path)).json.result).toEqual({ entries: [], baseConfig: base });
    const window = { weekdays: [0, 1, 2, 3, 4, 5, 6], startHourUtc: 0, endHourUtc: 24 };
    const always = { name: 'always', ...window, minReplicaMemoryGb: 32, maxReplicaMemoryGb: 64, idleScaling: false };
    const entries = [always, { name: 'never reached', ...window, numReplicas: 5 }];
    const { json } = await send('POST', path, { entries });
    const [first, second] = json.result.entries;
    expect(json.result).toEqual({
      entries: [
        { ...always, autoscalingMode: 'vertical', id: expect.any(String), isActiveNow: true },
        {
          name: 'never reached',
          ...window,
          minReplicas: 5,
          maxReplicas: 5,
          autoscalingMode: 'vertical',
          id: expect.any(String),
          isActiveNow: false,
        },
      ],
      baseConfig: base,
      activeEntryId: first.id,
    });
    const record = (await server.call({ path: service, key: acme.admin })).json.result;
    expect(record).toMatchObject({
      minReplicaMemoryGb: 16,
      scalingSchedule: json.result,
      currentScaling: {
        effectiveMinReplicaMemoryGb: 32,
        effectiveMaxReplicaMemoryGb: 64,
        effectiveMinReplicas: 3,
        effectiveIdleScaling: false,
        activeEntryId: first.id,
      },
    });
    const repeated = await send('POST', path, { entries });
    expect(repeated.json.result.entries.map(({ id }: { id: string }) => id)).toEqual([first.id, second.id]);
    expect((await send('DELETE', path)).status).toBe(200);
    expect((await server.call({ path: service, key: acme.admin })).json.result).not.toHaveProperty('scalingSchedule');
    expect((await send('GET', path)).json.result.entries).toEqual([]);
    expect(await listTypes(2)).toEqual(Array(2).fill('service_update_autoscaling_schedule'));
  });

  const window = { name: 'w', weekdays: [1], startHourUtc: 8, endHourUtc: 18 };
  it.each([
    [
      { ...window, endHourUtc: 8 },
      'entries[0].endHourUtc: The value must differ from startHourUtc; 0 to 24 is a whole day <number:8>',
    ],
    [
      { ...window, minReplicaMemoryGb: 32 },
      'entries[0].minReplicaMemoryGb: minReplicaMemoryGb and maxReplicaMemoryGb must be given together <number:32>',
    ],
    [
      { ...window, numReplicas: 1 },
      'entries[0].minReplicas: The first service of a warehouse must have at least 2 replicas <number:1>; ' +
        'request body.entries[0].maxReplicas: The first service of a warehouse must have at least 2 replicas <number:1>',
    ],
    [{ ...window, weekdays: [7] }, 'entries[0].weekdays[0]: The value must be at most 6 <number:7>'],
    [
      { ...window, minReplicas: 2, maxReplicas: 4 },
      'entries[0].maxReplicas: minReplicas and maxReplicas must be equal unless autoscalingMode is horizontal <number:4>',
    ],
  ])('the scaling schedule rejects %j', async (entry, text) => {
    const { status, json } = await send('POST', 'scalingSchedule', { entries: [entry] });
    expect([status, json.error]).toEqual([400, `BAD_REQUEST: request body.${text}`]);
  });

  it('a change of scaling must not conflict with the schedule', async () => {
    const entry = { ...window, autoscalingMode: 'horizontal', minReplicas: 2, maxReplicas: 6 };
    expect((await send('POST', 'scalingSchedule', { entries: [entry] })).status).toBe(400);
    const sized = { ...entry, minReplicaMemoryGb: 32, maxReplicaMemoryGb: 32 };
    expect((await send('POST', 'scalingSchedule', { entries: [sized] })).status).toBe(200);
    expect((await send('PATCH', 'replicaScaling', { maxReplicaMemoryGb: 64 })).status).toBe(200);
    expect((await send('DELETE', 'scalingSchedule')).status).toBe(200);
    expect((await send('PATCH', 'replicaScaling', { minReplicaMemoryGb: 64 })).status).toBe(200);
    expect((await send('POST', 'scalingSchedule', { entries: [entry] })).status).toBe(200);
    const { status, json } = await send('PATCH', 'replicaScaling', { minReplicaMemoryGb: 16 });
    expect([status, json.error]).toEqual([
      400,
      expect.stringMatching(/The scaling schedule conflicts with the change, entries\[0\]/),
    ]);
  });

  describe('M4, R1: access', () => {
    it.each(['privateEndpointConfig', 'backupConfiguration', 'scalingSchedule'])('%s', async (path) => {
      expect((await send('GET', path, undefined, acme.developer)).status).toBe(200);
      expect((await send('GET', path, undefined, acme.query)).status).toBe(403);
      expect((await send('GET', path, undefined, globex.admin)).status).toBe(404);
      const foreign = `/v1/organizations/${acme.id}/services/${globex.primary}/${path}`;
      expect((await server.call({ path: foreign, key: acme.admin })).status).toBe(404);
    });
  });
});
