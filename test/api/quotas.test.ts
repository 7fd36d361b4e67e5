import { expect, it } from 'vitest';
import { createDashboard, DASHBOARDS, read, write } from '../support/dashboards.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { runSql } from '../support/sql.ts';

const KEPT_VERSIONS = 500;
const KEPT_DELETED = 100;
/** Of a version, except its number. */
const COLUMNS = 'organization_id, dashboard_id, saved_at, saved_by, provisioned_from, name, tile_count, document';

onEachStore('quotas of an organization', (store) => {
  // The fleet file declares two tokens, one dashboard and one source for Acme.
  const server = useServer(store, { args: ['--max-tokens', '4', '--max-dashboards', '3', '--max-sources', '3'] });
  const tokens = (organization: { id: string }) => `/v1/organizations/${organization.id}/dashboardTokens`;
  const statuses = (responses: { status: number }[]) => responses.map(({ status }) => status).sort();
  const createToken = (organization = acme) =>
    server.call({ method: 'POST', path: tokens(organization), key: organization.admin, body: {} });
  const createSource = (token = acme.writer) =>
    server.call({
      method: 'POST',
      path: '/api/v2/sources',
      token,
      body: { name: 's', kind: 'log', from: { databaseName: 'pilothouse', tableName: 'otel_logs' } },
    });

  it('concurrent requests create exactly as many tokens as the limit allows, and more after one is deleted', async () => {
    const responses = await Promise.all(Array.from({ length: 5 }, () => createToken()));
    expect(statuses(responses)).toEqual([200, 200, 409, 409, 409]);
    const rejected = responses.find(({ status }) => status === 409);
    expect(rejected?.json.error).toBe(
      'CONFLICT: The organization has reached its limit of 4 dashboard tokens; delete one first',
    );
    expect((await createToken(globex as typeof acme)).status).toBe(200);
    const created = responses.find(({ status }) => status === 200)?.json.result.dashboardToken;
    await server.call({ method: 'DELETE', path: `${tokens(acme)}/${created.id}`, key: acme.admin });
    expect((await createToken()).status).toBe(200);
  });

  it('concurrent requests create exactly as many sources as the limit allows', async () => {
    const responses = await Promise.all(Array.from({ length: 5 }, () => createSource()));
    expect(statuses(responses)).toEqual([200, 200, 409, 409, 409]);
    expect(responses.find(({ status }) => status === 409)?.json.message).toBe(
      'The organization has reached its limit of 3 sources; delete one first',
    );
    expect((await createSource(globex.writer)).status).toBe(200);
  });

  it('a dashboard has at most 2 MiB as JSON; a larger one is rejected and changes nothing', async () => {
    const markdown = (size: number) => ({ type: 'markdown', content: 'x'.repeat(size) });
    const body = (...sizes: number[]) => ({
      name: 'Large',
      tiles: sizes.map((size, y) => ({ name: 't', x: 0, y, w: 1, h: 1, series: [markdown(size)] })),
    });
    const sizes = Array<number>(41).fill(50_000);
    // A body of 2 MiB: with the ids of its tiles, the dashboard is larger.
    const large = body(...sizes, 2 * 2 ** 20 - JSON.stringify(body(...sizes, 0)).length);
    const before = (await read(server, `/${acme.dashboard}`)).json.data;
    for (const [method, path] of [
      ['POST', ''],
      ['PUT', `/${acme.dashboard}`],
    ] as const) {
      const response = await write(server, method, path, large);
      expect(response.status).toBe(400);
      expect(response.json.message).toContain('tiles: must not make the dashboard larger than 2 MiB as JSON');
    }
    const validation = (await write(server, 'POST', '/validate', large)).json;
    expect(validation).toMatchObject({
      valid: false,
      errors: [{ message: expect.stringContaining('larger than 2 MiB as JSON') }],
    });
    expect((await read(server, `/${acme.dashboard}`)).json.data).toEqual(before);
    expect((await write(server, 'POST', '/validate', body(...sizes))).json).toMatchObject({ valid: true });
  });

  it('concurrent requests create exactly as many dashboards as the limit allows; restoring one counts', async () => {
    const create = (token = acme.writer) =>
      server.call({ method: 'POST', path: DASHBOARDS, token, body: { name: 'd', tiles: [] } });
    const responses = await Promise.all(Array.from({ length: 5 }, () => create()));
    expect(statuses(responses)).toEqual([200, 200, 409, 409, 409]);
    expect(responses.find(({ status }) => status === 409)?.json.message).toBe(
      'The organization has reached its limit of 3 dashboards; delete one first',
    );
    expect((await create(globex.writer)).status).toBe(200);
    const { id } = responses.find(({ status }) => status === 200)?.json.data ?? {};
    expect((await write(server, 'PUT', `/${id}`, { name: 'changed', tiles: [] })).status).toBe(200);
    expect((await write(server, 'DELETE', `/${id}`)).status).toBe(200);
    expect((await create()).status).toBe(200);
    expect((await write(server, 'POST', `/${id}/versions/1/restore`)).status).toBe(409);
  });
});

onEachStore('versions of dashboards', (store) => {
  const server = useServer(store);
  const listVersions = async (id: string): Promise<number[]> =>
    (await read(server, `/${id}/versions`)).json.data.map(({ version }: { version: number }) => version);

  it('the newest 500 of a dashboard are kept', { timeout: 300_000 }, async () => {
    const { data } = await createDashboard(server, { name: 'first', tiles: [] });
    // The first 500 by SQL, which takes a moment; those that replace others by the API.
    await runSql(
      server,
      `WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ${KEPT_VERSIONS})
       INSERT INTO dashboard_versions (${COLUMNS}, version) SELECT ${COLUMNS}, i FROM dashboard_versions, n WHERE dashboard_id = '${data.id}'`,
    );
    await runSql(server, `UPDATE dashboards SET version = ${KEPT_VERSIONS} WHERE id = '${data.id}'`);
    for (let version = KEPT_VERSIONS + 1; version <= KEPT_VERSIONS + 3; version++)
      expect((await write(server, 'PUT', `/${data.id}`, { name: `version ${version}`, tiles: [] })).status).toBe(200);
    const versions = await listVersions(data.id);
    expect([versions.length, versions[0], versions.at(-1)]).toEqual([KEPT_VERSIONS, KEPT_VERSIONS + 3, 4]);
    expect((await read(server, `/${data.id}/versions/3`)).json).toEqual({ message: 'Version not found' });
  });

  it('those of the last 100 deleted dashboards are kept, and of every other dashboard', {
    timeout: 300_000,
  }, async () => {
    const ids: string[] = [];
    for (let index = 0; index < KEPT_DELETED + 2; index++) {
      const { data } = await createDashboard(server, { name: `deleted ${index}`, tiles: [] });
      ids.push(data.id);
      expect((await write(server, 'DELETE', `/${data.id}`)).status).toBe(200);
    }
    const kept = await Promise.all(ids.map(async (id) => (await read(server, `/${id}/versions`)).status));
    expect(kept.filter((status) => status === 200)).toHaveLength(KEPT_DELETED);
    expect(kept.at(-1)).toBe(200);
    expect(await listVersions(acme.dashboard)).toEqual([1]);
    expect((await write(server, 'POST', `/${ids.at(-1)}/versions/1/restore`)).status).toBe(200);
  });
});
