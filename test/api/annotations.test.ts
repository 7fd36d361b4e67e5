import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { MAX_ANNOTATIONS } from '../../src/observability/annotations/annotation.ts';
import type { Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { signIn } from '../support/sessions.ts';
import { runSql } from '../support/store-sql.ts';

const PATH = '/api/v2/annotations';
const T = 1_700_000_000_000;

onEachStore('annotations', (store) => {
  const server = useServer(store);
  const post = (body: object, token = acme.writer) => server.call({ method: 'POST', path: PATH, token, body });
  const list = async (query = `start=${T}&end=${T + 1000}`, token = acme.token): Promise<Json[]> =>
    (await server.call({ path: `${PATH}?${query}`, token })).json.data;
  const remove = (id: string, token = acme.writer) => server.call({ method: 'DELETE', path: `${PATH}/${id}`, token });

  it('a deploy is created, listed by time and deleted', async () => {
    const body = {
      title: ' web 1.4.2 ',
      text: 'By CI',
      time: T,
      endTime: new Date(T + 500).toISOString(),
      tags: ['web', 'web'],
      dashboardId: acme.dashboard,
      link: 'https://ci.example.com/runs/7',
    };
    const { status, json } = await post(body);
    expect(status, JSON.stringify(json)).toBe(200);
    const expected = { ...body, id: json.data.id, kind: 'deploy', title: 'web 1.4.2', endTime: T + 500, tags: ['web'] };
    expect(json.data).toEqual({ ...expected, createdBy: expect.any(String) });
    const other = (await post({ title: 'later', time: T + 600 })).json.data;
    expect((await list()).map(({ id }) => id)).toEqual([other.id, json.data.id]);
    expect((await list(`start=${T}&end=${T + 1000}&limit=1`)).map(({ id }) => id)).toEqual([other.id]);
    // The range overlaps its end.
    expect((await list(`start=${T + 400}&end=${T + 500}`)).map(({ id }) => id)).toEqual([json.data.id]);
    expect(await list(`start=${T + 501}&end=${T + 600}`)).toEqual([]);
    expect(await list(undefined, globex.token)).toEqual([]);
    expect((await list(`start=${T}&end=${T + 1000}&dashboardId=other`)).map(({ id }) => id)).toEqual([other.id]);
    expect((await remove(other.id, globex.writer)).status).toBe(404);
    expect((await remove(other.id)).status).toBe(200);
    expect((await remove(other.id)).status).toBe(404);
    const path = `/v1/organizations/${acme.id}/activities?resource_id=${other.id}`;
    const activities: Json[] = (await server.call({ path, key: acme.admin })).json.result;
    expect(activities.map(({ activityType }) => activityType)).toEqual(['annotation_delete', 'annotation_create']);
  });

  it('scaling changes of services come from the audit log', async () => {
    const before = Date.now();
    const path = `/v1/organizations/${acme.id}/services/${acme.primary}/replicaScaling`;
    const { status } = await server.call({ method: 'PATCH', path, key: acme.admin, body: { numReplicas: 5 } });
    expect(status).toBe(200);
    const range = `start=${before - 60_000}&end=${Date.now() + 60_000}`;
    const [scaling] = (await list(range)).filter(({ kind }) => kind === 'scaling');
    expect(scaling).toMatchObject({ title: expect.stringMatching(/was scaled$/), text: 'replicas 3 → 5' });
    expect((await list(range, globex.token)).filter(({ kind }) => kind === 'scaling')).toEqual([]);
    expect((await remove(scaling.id)).status).toBe(404);
  });

  it('a role that may not read the audit log does not see scaling changes', async () => {
    const body = {
      name: `viewer ${randomUUID()}`,
      policies: [{ allowDeny: 'ALLOW', permissions: ['dashboards:view'], resources: [`organization/${acme.id}`] }],
    };
    const path = `/v1/organizations/${acme.id}/roles`;
    const role = (await server.call({ method: 'POST', path, key: acme.admin, body })).json.result;
    const { credentials } = await createKey(server, { assignedRoleIds: [role.id] });
    const { headers } = await signIn(server, credentials);
    const range = `start=${Date.now() - 600_000}&end=${Date.now() + 60_000}`;
    const { status, json } = await server.call({ path: `${PATH}?${range}`, headers });
    expect([status, json.data.map(({ kind }: Json) => kind)]).toEqual([200, []]);
  });

  it.each([
    [{}, 'title'],
    [{ title: ' ' }, 'title'],
    [{ title: 'x'.repeat(201) }, 'title'],
    [{ title: 'x', text: 'x'.repeat(2001) }, 'text'],
    [{ title: 'x', time: 'yesterday' }, 'time'],
    [{ title: 'x', time: T, endTime: T - 1 }, 'endTime'],
    [{ title: 'x', link: 'javascript:alert(1)' }, 'link'],
    [{ title: 'x', link: 'no url' }, 'link'],
    [{ title: 'x', tags: Array.from({ length: 51 }, String) }, 'tags'],
  ])('M3: %j is a 400 that names %s', async (body, member) => {
    const { status, json } = await post(body);
    expect([status, json.errors[0].path]).toEqual([400, member]);
  });

  it('needs write access and an existing dashboard', async () => {
    expect((await post({ title: 'x' }, acme.token)).status).toBe(403);
    expect((await post({ title: 'x', dashboardId: globex.dashboard })).status).toBe(404);
  });

  it('the oldest are removed beyond the limit', async () => {
    const { id } = (await post({ title: 'oldest', time: T - 1000 }, globex.writer)).json.data;
    const values = Array.from(
      { length: MAX_ANNOTATIONS },
      (_, index) =>
        `('${globex.id}', 'fill-${index}', ${T + index}, ${T + index}, NULL, '{"title":"x","text":"","tags":[]}', 'test')`,
    );
    const columns = '(organization_id, id, time, end_time, dashboard_id, document, created_by)';
    for (let from = 0; from < values.length; from += 1000)
      await runSql(server, `INSERT INTO annotations ${columns} VALUES ${values.slice(from, from + 1000).join(',')}`);
    await post({ title: 'newest', time: T + MAX_ANNOTATIONS }, globex.writer);
    const oldest = await list(`start=${T - 2000}&end=${T + 10}`, globex.token);
    expect(oldest.map((one) => one.id)).not.toContain(id);
    expect(oldest.at(-1)?.id).toBe('fill-1');
  });
});
