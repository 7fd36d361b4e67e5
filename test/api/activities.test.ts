import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { getSystemRoleId } from '../../src/kernel/access/roles.ts';
import { acme, globex, initech } from '../support/fleet.ts';
import { createKey, getKeyId, keysPath, postKey, sha256, toHashData } from '../support/keys.ts';
import { onEachStore, useServer } from '../support/server.ts';

const path = `/v1/organizations/${acme.id}/activities`;
const service = `/v1/organizations/${acme.id}/services/${acme.primary}`;

const toTypes = (type: string, keyUpdateType: string) => ({ type, activityType: type, keyUpdateType });

onEachStore('activities', (store) => {
  const server = useServer(store, { args: ['--trust-proxy', '127.0.0.1'] });
  const readLog = async () => (await server.call({ path: `${path}?limit=1000`, key: acme.admin })).json.result;

  /** Runs `work` and returns the activities it added to the audit log. */
  async function recordActivities(work: () => Promise<unknown>) {
    const before = await readLog();
    await work();
    const after = await readLog();
    expect(after.slice(after.length - before.length), 'earlier activities are unchanged').toEqual(before);
    return after.slice(0, after.length - before.length);
  }

  const from = { 'user-agent': 'audit-test/1.0', 'x-forwarded-for': '203.0.113.7' };
  const actor = async () => ({
    actorType: 'api',
    actorId: await getKeyId(server, 'admin'),
    actorDetails: 'admin',
    actorIpAddress: '203.0.113.7',
    userAgent: 'audit-test/1.0',
    organizationId: acme.id,
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    createdAt: expect.stringMatching(/^20\d\d-.*Z$/),
  });

  it.each([
    [
      'memory',
      { minTotalMemoryGb: 72, numReplicas: 4 },
      'service_update_autoscaling_memory',
      { minReplicaMemoryGb: 16, numReplicas: 3 },
      { minReplicaMemoryGb: 24, numReplicas: 4 },
    ],
    [
      'replicas',
      { numReplicas: 5, idleScaling: false },
      'service_update_autoscaling_replicas',
      { numReplicas: 4, idleScaling: true },
      { numReplicas: 5, idleScaling: false },
    ],
    [
      'idling',
      { idleTimeoutMinutes: 30, numReplicas: 5 },
      'service_update_autoscaling_idling',
      { idleTimeoutMinutes: 15 },
      { idleTimeoutMinutes: 30 },
    ],
  ])(
    'B3: a change of %s writes one activity with actor, address, user agent, before and after',
    async (_, body, type, before, after) => {
      let requestId = '';
      const activities = await recordActivities(async () => {
        requestId = (
          await server.call({ method: 'PATCH', path: `${service}/scaling`, key: acme.admin, body, headers: from })
        ).json.requestId;
      });
      expect(activities).toEqual([
        {
          ...(await actor()),
          requestId,
          type,
          activityType: type,
          serviceId: acme.primary,
          resourceType: 'service',
          resourceId: acme.primary,
          before,
          after,
        },
      ]);
    },
  );

  it('K1, K7: every change of a key writes one activity without secrets or hashes', async () => {
    const credentials = { keyId: 'audited-key-0001', keySecret: 'audited-secret' };
    const body = {
      name: 'audited',
      hashData: toHashData(credentials),
      ipAccessList: [{ source: '::1', note: 'unknown' }],
    };
    const expectedKey = {
      name: 'audited',
      state: 'enabled',
      roles: ['developer'],
      ipAccessList: [{ source: '::1' }],
      keySuffix: '0001',
      expireAt: null,
    };
    let id = '';
    const [created, ...more] = await recordActivities(async () => {
      id = (await server.call({ method: 'POST', path: keysPath(), key: acme.admin, body, headers: from })).json.result
        .key.id;
    });
    const known = {
      ...(await actor()),
      requestId: expect.any(String),
      resourceType: 'key',
      resourceId: id,
      targetKeyId: id,
    };
    const targets = {
      targetRoleIds: [getSystemRoleId('developer')],
      targetRoleNames: ['developer'],
      targetActorIds: [`apiKey/${id}`],
    };
    expect([created, more]).toEqual([
      { ...known, ...targets, ...toTypes('key_create', 'created'), after: expectedKey },
      [],
    ]);

    const change = { name: 'renamed', expireAt: '2099-01-01T00:00:00Z', roles: ['developer'] };
    const updated = await recordActivities(() =>
      server.call({ method: 'PATCH', path: `${keysPath()}/${id}`, key: acme.admin, body: change, headers: from }),
    );
    const [before, after] = [
      { name: 'audited', expireAt: null },
      { name: 'renamed', expireAt: '2099-01-01T00:00:00Z' },
    ];
    expect(updated).toEqual([{ ...known, ...toTypes('openapi_key_update', 'name-changed'), before, after }]);

    const deleted = await recordActivities(() =>
      server.call({ method: 'DELETE', path: `${keysPath()}/${id}`, key: acme.admin, headers: from }),
    );
    expect(deleted).toEqual([
      { ...known, ...targets, ...toTypes('key_delete', 'deleted'), before: { ...expectedKey, ...after } },
    ]);
  });

  it('B6: resources from the fleet file have activities by the system, without secrets or hashes', async () => {
    const activities = await readLog();
    const types = activities
      .filter(({ actorType }: { actorType: string }) => actorType === 'system')
      .map(({ activityType }: { activityType: string }) => activityType);
    for (const type of [
      'create_organization',
      'service_create',
      'key_create',
      'dashboard_create',
      'dashboard_token_create',
      'usage_cost_import',
    ])
      expect(types).toContain(type);
    // The public types, which clients with a closed list can read. Dashboards have none.
    const shown = new Set(activities.map(({ type }: { type: string }) => type));
    for (const type of ['dashboard_create', 'key_create', 'organization_update_spend_alert'])
      expect(shown).toContain(type);
    for (const type of ['udf_create', 'dashboard_token_create', 'usage_cost_import']) expect(shown).not.toContain(type);
    const text = JSON.stringify(activities);
    for (const secret of [acme.admin.keyId, acme.admin.keySecret, acme.token]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(sha256(secret));
    }
    expect(text).not.toMatch(/[A-Za-z0-9+/]{43}=/);
  });

  it.each([
    ['an empty scaling change', 'PATCH', `${service}/scaling`, {}, 200],
    ['a change to the current values', 'PATCH', `${service}/scaling`, { maxTotalMemoryGb: 360 }, 200],
    ['a violation in the body', 'PATCH', `${service}/scaling`, { numReplicas: 0 }, 400],
    [
      'a violation that depends on the service',
      'PATCH',
      `${service}/scaling`,
      { numReplicas: 6, maxTotalMemoryGb: 24 },
      400,
    ],
    [
      'an unknown service',
      'PATCH',
      `/v1/organizations/${acme.id}/services/${randomUUID()}/scaling`,
      { numReplicas: 6 },
      404,
    ],
    ['an invalid key', 'POST', keysPath(), { roles: [] }, 400],
    ['a key with an id in use', 'POST', keysPath(), { hashData: toHashData(globex.admin) }, 409],
    ['an unknown key', 'DELETE', `${keysPath()}/${randomUUID()}`, undefined, 404],
    ['another organization', 'POST', keysPath(initech), {}, 404],
  ])('B3: %s writes no activity', async (_, method, target, body, status) => {
    const activities = await recordActivities(async () => {
      expect(
        (await server.call({ method, path: target, key: acme.admin, ...(body === undefined ? {} : { body }) })).status,
      ).toBe(status);
    });
    expect(activities).toEqual([]);
  });

  it('B3: an unchanged key, a conflict, a read and a rejected role write no activity', async () => {
    const { id } = await createKey(server, { name: 'same' });
    const admin = await getKeyId(server, 'admin');
    const activities = await recordActivities(async () => {
      await server.call({
        method: 'PATCH',
        path: `${keysPath()}/${id}`,
        key: acme.admin,
        body: { name: 'same', expireAt: '' },
      });
      await server.call({
        method: 'PATCH',
        path: `${keysPath()}/${admin}`,
        key: acme.admin,
        body: { state: 'disabled' },
      });
      await server.call({ method: 'DELETE', path: `${keysPath()}/${admin}`, key: acme.admin });
      await server.call({ method: 'PATCH', path: `${service}/scaling`, key: acme.developer, body: { numReplicas: 9 } });
      await server.call({ path: service, key: acme.developer });
    });
    expect(activities).toEqual([]);
  });

  it('B3: concurrent changes write one activity each, in order', async () => {
    const activities = await recordActivities(() =>
      Promise.all(Array.from({ length: 12 }, (_, index) => postKey(server, { name: `many ${index}` }))),
    );
    expect(new Set(activities.map(({ resourceId }: { resourceId: string }) => resourceId)).size).toBe(12);
    const times = activities.map(({ createdAt }: { createdAt: string }) => Date.parse(createdAt));
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  it('B6: a long user agent is truncated', async () => {
    const [activity] = await recordActivities(() =>
      server.call({ method: 'POST', path: keysPath(), key: acme.admin, headers: { 'user-agent': 'x'.repeat(2000) } }),
    );
    expect(activity.userAgent).toBe('x'.repeat(512));
  });

  describe('reading activities', () => {
    const list = (query: string) => server.call({ path: `${path}?${query}`, key: acme.developer });
    const ids = ({ json }: { json: { result: { id: string }[] } }) => json.result.map(({ id }) => id);

    it('M1, M4: finds an activity by id, ignoring case', async () => {
      const [newest] = await readLog();
      const { status, json } = await server.call({ path: `${path}/${newest.id.toUpperCase()}`, key: acme.developer });
      expect([status, json.result]).toEqual([200, newest]);
      const unknown = randomUUID();
      const missing = await server.call({ path: `${path}/${unknown}`, key: acme.admin });
      expect([missing.status, missing.json.error]).toEqual([404, `NOT_FOUND: activity ${unknown} does not exist`]);
    });

    it('M1: limit and before page through all activities, newest first, each once', async () => {
      const all = (await readLog()).map(({ id }: { id: string }) => id);
      const pagedIds: string[] = [];
      for (
        let page = ids(await list('limit=7'));
        page.length > 0;
        page = ids(await list(`limit=7&before=${pagedIds.at(-1)}`))
      ) {
        expect(page.length).toBeLessThanOrEqual(7);
        pagedIds.push(...page);
      }
      expect(pagedIds).toEqual(all);
    });

    it('B4: from_date and to_date are inclusive for days; a to_date time is exclusive', async () => {
      const all = await readLog();
      const middle = all[Math.floor(all.length / 2)].createdAt as string;
      const [today, tomorrow] = [0, 1].map((days) =>
        new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10),
      );
      const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
      const those = (isWanted: (createdAt: number) => boolean) =>
        all
          .filter(({ createdAt }: { createdAt: string }) => isWanted(Date.parse(createdAt)))
          .map(({ id }: { id: string }) => id);
      const moment = Date.parse(middle);
      expect(ids(await list(`limit=1000&from_date=${yesterday}&to_date=${tomorrow}`))).toEqual(those(() => true));
      expect(ids(await list(`limit=1000&from_date=${yesterday}&to_date=${today}`))).toEqual(
        those((at) => new Date(at).toISOString().slice(0, 10) <= (today ?? '')),
      );
      expect(ids(await list(`limit=1000&from_date=${middle}`))).toEqual(those((at) => at >= moment));
      expect(ids(await list(`limit=1000&to_date=${middle}`))).toEqual(those((at) => at < moment));
      expect(ids(await list('from_date=2099-01-01'))).toEqual([]);
      expect(ids(await list('to_date=2020-01-01'))).toEqual([]);
      expect(ids(await list(`from_date=${encodeURIComponent('2020-01-01T00:00:00+02:00')}&limit=1`))).toEqual([
        all[0].id,
      ]);
    });

    it.each([
      ['limit=0', 'query.limit: The value must be at least 1 <number:0>'],
      ['limit=1001', 'query.limit: The value must be at most 1000 <number:1001>'],
      ['limit=ten', 'query.limit: The value must be an integer <string:ten>'],
      ['limit=', 'query.limit: The value must be an integer <string:>'],
      ['before=x', 'query.before: The value must be a valid uuid <string:x>'],
      ['from_date=2026-02-30', 'query.from_date: The value must be an ISO 8601 date or date-time <string:2026-02-30>'],
      ['to_date=soon', 'query.to_date: The value must be an ISO 8601 date or date-time <string:soon>'],
      ['limit=1&limit=2', 'query.limit: The value must be an integer <array>'],
      ['since=2026-01-01', 'query.since: Unknown parameter <string:2026-01-01>'],
      [
        'from_date=then&to_date=soon',
        'query.from_date: The value must be an ISO 8601 date or date-time <string:then>; query.to_date: The value must be an ISO 8601 date or date-time <string:soon>',
      ],
    ])('B4, M3: rejects the query %s', async (query, error) => {
      const { status, json } = await list(query);
      expect([status, json.error]).toEqual([400, `BAD_REQUEST: ${error}`]);
    });
  });
});
