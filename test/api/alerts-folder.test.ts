import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { cli, listErrors } from '../support/cli.ts';
import type { Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { onEachStore, onEachStoreInLongRuns, startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const series = [{ type: 'time', aggFn: 'count', sourceId: 'logs' }];
const tile = (name: string) => ({ name, x: 0, y: 0, w: 12, h: 4, series });
const board = { organization: 'Acme', name: 'Shop', tiles: [tile('Orders')] };
const channel = { name: 'Team', service: 'slack', url: 'https://hooks.slack.com/services/a' };
const alert = {
  name: 'No orders',
  dashboard: 'Shop',
  tile: 'Orders',
  interval: '15m',
  threshold: 1,
  thresholdType: 'below',
  channels: ['Team'],
};
const file = (more: object = {}) => ({ organization: 'Acme', channels: [channel], alerts: [alert], ...more });

function isMatch(alerts: Json[], expected: object[]): boolean {
  try {
    expect(alerts).toMatchObject(expected);
    return true;
  } catch {
    return false;
  }
}

onEachStore('alert files of the dashboards folder', (store) => {
  let folder: string;
  let server: TestServer;

  const put = (name: string, content: object) => {
    writeFileSync(join(folder, 'part'), stringify(content));
    renameSync(join(folder, 'part'), join(folder, name));
  };
  const list = async (path = '/alerts'): Promise<Json[]> =>
    (await server.call({ path: `/api/v2${path}`, token: acme.writer })).json.data;
  const untilAlerts = (expected: object[]) =>
    until(list, (alerts) => isMatch(alerts, expected), 'the alerts are not as expected');

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    put('shop.yaml', board);
    put('shop.alerts.yaml', file());
    server = await startServer(store, { args: ['--dashboards', folder], inProcess: true });
  });
  afterEach(async () => {
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are applied with the folder, and merged with changes made through the API', async () => {
    const [{ id, ...stored } = {} as Json] = await list();
    const [dashboard] = (await list('/dashboards')).filter(({ name }) => name === 'Shop');
    expect(stored).toMatchObject({ source: 'tile', dashboardId: dashboard.id, tileId: dashboard.tiles[0].id });
    const body = { ...stored, repeatMinutes: 60, threshold: 2 };
    const changed = await server.call({ method: 'PUT', path: `/api/v2/alerts/${id}`, token: acme.writer, body });
    expect(changed.status, changed.text).toBe(200);
    put('shop.alerts.yaml', file({ alerts: [{ ...alert, severity: 'critical' }] }));
    await untilAlerts([{ id, severity: 'critical', repeatMinutes: 60, threshold: 2 }]);
    // Without ids, a new tile takes the id of the one that it moves.
    put('shop.yaml', { ...board, tiles: [tile('Visits'), tile('Orders')] });
    await until(
      async () => {
        const tiles: Json[] = (await list('/dashboards')).find(({ name }) => name === 'Shop').tiles;
        return [(await list())[0].tileId, tiles.find(({ name }) => name === 'Orders').id];
      },
      ([watched, orders]) => watched === orders && watched !== stored.tileId,
      'the alert does not follow its tile',
    );
    const activities = await server.call({ path: `/v1/organizations/${acme.id}/activities`, key: acme.admin });
    const created = activities.json.result.find(({ type }: Json) => type === 'alert_create');
    expect(created.actorDetails).toBe('dashboards folder');
  });

  it('are all ignored while one of them is invalid, and removed with their file', async () => {
    put('more.alerts.json', file({ channels: [], alerts: [{ ...alert, name: 'Second' }] }));
    await untilAlerts([expect.anything(), expect.anything()]);
    put('more.alerts.json', file({ channels: [], alerts: [{ ...alert, name: 'Second', tile: 'None' }] }));
    put('shop.alerts.yaml', file({ alerts: [{ ...alert, threshold: 9 }] }));
    put('board.yaml', { organization: 'Acme', name: 'Applied', tiles: [] });
    await until(
      () => list('/dashboards'),
      (boards) => boards.some(({ name }) => name === 'Applied'),
      'the dashboard is not applied',
    );
    expect((await list()).map(({ threshold }) => threshold)).toEqual([1, 1]);
    rmSync(join(folder, 'more.alerts.json'));
    await untilAlerts([{ threshold: 9 }]);
    rmSync(join(folder, 'shop.alerts.yaml'));
    await untilAlerts([]);
    expect(await list('/webhooks')).toEqual([]);
  });
});

onEachStoreInLongRuns('an alert file that names a source that does not exist', (store) => {
  it('is applied, and logged as that of a dashboard', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    const search = { name: 'Elsewhere', sourceId: 'nowhere', where: '' };
    const { dashboard: _, tile: __, ...rest } = alert;
    const alerts = [{ ...rest, savedSearch: 'Elsewhere' }];
    const content = stringify({ organization: 'Acme', channels: [channel], savedSearches: [search], alerts });
    writeFileSync(join(folder, 'shop.alerts.yaml'), content);
    const server = await startServer(store, { args: ['--dashboards', folder], inProcess: false });
    try {
      const log = await until(
        async () => server.log(),
        (text) => text.includes('savedSearches[0].sourceId: The source does not exist <string>'),
        'the log does not name the source',
      );
      expect(log).toContain('a file of the dashboards folder names a source that does not exist');
      const { json } = await server.call({ path: '/api/v2/alerts', token: acme.writer });
      expect(json.data).toMatchObject([{ name: alert.name, source: 'saved_search' }]);
    } finally {
      await server.remove();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

it('alert files are checked by commands, and are not applied as dashboards', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  const path = join(folder, 'a.alerts.yaml');
  const [, example = ''] = /```yaml\n(# boards.*?\n)```/s.exec(readFileSync('docs/alerts.md', 'utf8')) ?? [];
  for (const text of [example, stringify(file())]) {
    writeFileSync(path, text);
    expect(text).toContain('alerts:');
    expect((await cli(['dashboard', 'validate', path])).code).toBe(0);
  }
  expect(listErrors(await cli(['dashboard', 'apply', path, '--data', folder]))).toEqual([
    `${path}: Alerts are applied with the dashboards folder or a fleet file`,
  ]);
  writeFileSync(path, stringify(file({ channels: [{ ...channel, headers: 'a-secret' }] })));
  const [problem = ''] = listErrors(await cli(['dashboard', 'validate', path]));
  expect(problem).toContain(`${path}: channels[0].headers: `);
  expect(problem).not.toContain('a-secret');
  const doctor = await cli(['doctor', '--dashboards', folder, '--data', folder]);
  expect(doctor.stdout).toContain('a.alerts.yaml: channels[0].headers');
  rmSync(folder, { recursive: true, force: true });
});
