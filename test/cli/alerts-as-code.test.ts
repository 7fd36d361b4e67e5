import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { getServerStore, type Json, listErrors, useStore } from '../support/cli.ts';
import { acme, fleet } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

const [first, ...others] = fleet.organizations as Json[];
const file = (members: object) => ({ organizations: [{ ...first, ...members }, ...others] });

const hook = {
  name: 'On call',
  service: 'generic',
  url: 'https://example.com/hook/path-secret',
  headers: { Authorization: 'Bearer header-secret' },
};
const errors = { name: 'Errors', sourceId: 'logs', where: 'SeverityText:ERROR' };
const perService = {
  name: 'Errors of {{attributes.ServiceName}}',
  savedSearch: 'Errors',
  groupBy: 'ServiceName',
  interval: '5m',
  threshold: 100,
  thresholdType: 'above',
  channels: ['On call'],
};
const ofTile = {
  name: 'Rows',
  dashboard: 'Acme board',
  tile: 'One',
  interval: '1h',
  threshold: 5,
  thresholdType: 'below',
  channels: ['On call'],
  quietHours: { timezone: 'Europe/Berlin', ranges: [{ start: '22:00', end: '06:00' }] },
};
const declared = { channels: [hook], savedSearches: [errors], alerts: [perService, ofTile] };

onEachStore('alerts in the fleet file', (store) => {
  const server = useServer(store, { fleet: file(declared) });
  const call = async (method: string, path: string, body?: object): Promise<Json> => {
    const response = await server.call({ method, path: `/api/v2${path}`, token: acme.writer, ...(body && { body }) });
    expect(response.status, response.text).toBe(200);
    return response.json.data;
  };
  const findAlert = async (threshold: number) =>
    (await call('GET', '/alerts')).find((alert: Json) => alert.threshold === threshold);
  const rejected = async (members: object, ...flags: string[]) => {
    const result = await getServerStore(server).apply(file(members), ...flags);
    expect([2, 1]).toContain(result.code);
    return listErrors(result);
  };

  it('F1: are created with what they refer to by name', async () => {
    const [channel] = await call('GET', '/webhooks');
    const [search] = await call('GET', '/saved-searches');
    expect(channel).toMatchObject({ name: 'On call', service: 'generic', url: hook.url });
    expect(search).toMatchObject({ ...errors, whereLanguage: 'lucene' });
    expect(await findAlert(100)).toMatchObject({
      source: 'saved_search',
      savedSearchId: search.id,
      groupBy: 'ServiceName',
      channels: [{ type: 'webhook', webhookId: channel.id }],
      repeatMinutes: 240,
    });
    expect(await findAlert(5)).toMatchObject({ source: 'tile', dashboardId: acme.dashboard, tileId: 'one' });
  });

  it('F1: keep what the API changed, and get what the file changed', async () => {
    const commands = getServerStore(server);
    const { id, ...alert } = await findAlert(100);
    await call('PUT', `/alerts/${id}`, { ...alert, threshold: 150, pendingMinutes: 10 });
    expect(await commands.plan(file(declared))).toEqual([]);
    const changed = { ...declared, alerts: [{ ...perService, groupBy: 'SeverityText' }, ofTile] };
    expect(await commands.plan(file(changed))).toEqual([`change alert ${perService.name}`]);
    expect(await findAlert(150)).toMatchObject({ id, groupBy: 'SeverityText', pendingMinutes: 10 });
    expect(await commands.plan(file(changed), '--dry-run', '--force')).toEqual([`change alert ${perService.name}`]);
    expect(await commands.plan(file(changed), '--force')).toEqual([`change alert ${perService.name}`]);
    expect(await findAlert(100)).toMatchObject({ id, pendingMinutes: 10 });
    // null sets the default.
    const cleared = { ...declared, alerts: [perService, { ...ofTile, quietHours: null }] };
    expect(await commands.plan(file(cleared))).toHaveLength(2);
    expect(await findAlert(5)).toMatchObject({ quietHours: null });
  });

  it('F1: a deleted alert is created again when its declaration changes', async () => {
    const commands = getServerStore(server);
    await call('DELETE', `/alerts/${(await findAlert(5)).id}`);
    const alerts = [perService, { ...ofTile, quietHours: null }];
    expect(await commands.plan(file({ ...declared, alerts }))).toEqual([]);
    expect(await commands.plan(file(declared))).toEqual(['add alert Rows']);
  });

  it('keep the secrets of a channel unless the receiver changes, and no export, plan or activity shows one', async () => {
    const commands = getServerStore(server);
    const { stdout, stderr } = await commands.run('export');
    expect(stdout).toContain('path-secret');
    expect(stdout + stderr).not.toMatch(/header-secret|whsec_/);
    expect(stderr).toContain('channels[0]: headers, queryParams and signingSecret are not exported');
    expect(await commands.plan(stdout, '--force')).toEqual([]);
    const { headers: _, ...bare } = hook;
    const moved = { ...declared, channels: [{ ...bare, description: 'Team' }] };
    const { stdout: plan } = await commands.apply(file(moved), '--dry-run', '--json');
    expect(JSON.parse(plan).steps.filter(({ action }: Json) => action === 'change')).toMatchObject([
      { kind: 'channel', after: { description: 'Team' } },
    ]);
    expect(plan).not.toMatch(/header-secret|path-secret|whsec_/);
    const broken = { ...declared, channels: [{ ...hook, headers: { 'webhook-id': 'header-secret' } }] };
    const [message] = await rejected(broken);
    expect(message).toContain('channels[0].headers.webhook-id: The server sets this header itself');
    expect(message).not.toContain('header-secret');
    const activities = await server.call({ path: `/v1/organizations/${acme.id}/activities`, key: acme.admin });
    expect(activities.text).not.toMatch(/header-secret|path-secret|whsec_/);
  });

  it.each([
    [
      'an unknown channel',
      { channels: ['Nobody'] },
      'alerts[0].channels[0]: There is no channel with this name or id <string:Nobody>',
    ],
    ['no channel', { channels: [] }, 'alerts[0].channels: At least one channel is required'],
    [
      'an unknown saved search',
      { savedSearch: 'Errers' },
      'alerts[0].savedSearch: There is no saved search with this name or id <string:Errers>',
    ],
    [
      'a tile without its dashboard',
      { savedSearch: undefined, tile: 'One' },
      'alerts[0].dashboard: The value is required for alerts with the source tile',
    ],
    [
      'an unknown tile',
      { savedSearch: undefined, dashboard: 'Acme board', tile: 'Two' },
      'alerts[0].tile: There is no tile with this name or id <string:Two>',
    ],
    ['a rule of the API', { thresholdType: 'between' }, 'alerts[0].thresholdMax: The value is required for between'],
    ['a broken template', { message: '{{#if}}' }, 'alerts[0].message: '],
    ['an unknown member', { savedSearchId: 'x' }, 'alerts[0].savedSearchId: '],
    [
      'a start and an offset',
      { scheduleStartAt: '2026-01-01T00:00:00Z', scheduleOffsetMinutes: 1 },
      'alerts[0].scheduleOffsetMinutes: The value must be 0 if scheduleStartAt is set',
    ],
    ['neither name nor id', { name: undefined }, 'alerts[0].name: An alert without an id must have a name'],
  ])('F2: are rejected with %s', async (_, more, message) => {
    const alert = JSON.parse(JSON.stringify({ ...perService, ...more }));
    expect(await rejected({ ...declared, alerts: [alert] })).toEqual([
      expect.stringContaining(`organizations[0].${message}`),
    ]);
  });

  it('F2: what an alert refers to cannot be removed; other alerts are deleted with it', async () => {
    const commands = getServerStore(server);
    const { alerts, ...rest } = declared;
    const [board] = first.dashboards;
    const [tile] = board.tiles;
    const withTile = (more: object) => ({ dashboards: [{ ...board, tiles: [{ ...tile, ...more }] }] });
    // The name has another id.
    expect(await commands.plan(file({ ...declared, ...withTile({ id: 'two' }) }))).toEqual([
      'change dashboard Acme board',
      'change alert Rows',
    ]);
    expect(await findAlert(5)).toMatchObject({ tileId: 'two' });
    const renamed = withTile({ id: 'three', name: 'Three' });
    expect(await rejected({ ...declared, ...renamed })).toEqual([
      expect.stringContaining('alerts[1].tile: There is no tile with this name or id <string:One>'),
    ]);
    expect(await rejected({ ...declared, savedSearches: [] }, '--prune')).toEqual([
      expect.stringContaining('alerts[0].savedSearch: There is no saved search with this name or id'),
    ]);
    // No longer declared, like one created over the API.
    expect(await commands.plan(file({ ...rest, alerts: [perService], ...renamed }))).toEqual([
      'change dashboard Acme board',
    ]);
    expect(await findAlert(5)).toBeUndefined();
  });

  it('F1: are pruned with what they refer to', async () => {
    const commands = getServerStore(server);
    expect(await commands.plan(file(declared), '--force')).toContain('add alert Rows');
    const [channel] = await call('GET', '/webhooks');
    const alert = await call('POST', '/alerts', {
      source: 'condition',
      condition: 'key_expiry_days',
      threshold: 14,
      thresholdType: 'below',
      interval: '1h',
      channel: { type: 'webhook', webhookId: channel.id },
    });
    expect(await rejected({}, '--prune')).toEqual([
      expect.stringContaining(`organizations[0].channels: The alert ${alert.id} uses a channel that would be removed`),
    ]);
    await call('DELETE', `/alerts/${alert.id}`);
    const budgets = `/v1/organizations/${acme.id}/budgets`;
    const budget = {
      name: 'Team',
      monthlyCHC: 1,
      thresholds: [50],
      channels: [{ type: 'webhook', webhookId: channel.id }],
    };
    const { json } = await server.call({ method: 'POST', path: budgets, key: acme.admin, body: budget });
    expect(await rejected({}, '--prune')).toEqual(['The channel On call is in use: budget Team; change it first']);
    await server.call({ method: 'DELETE', path: `${budgets}/${json.result.id}`, key: acme.admin });
    expect((await commands.plan(file({}), '--prune')).sort()).toEqual([
      'remove alert Errors of {{attributes.ServiceName}}',
      'remove alert Rows',
      'remove channel On call',
      'remove saved_search Errors',
    ]);
    for (const path of ['/alerts', '/webhooks', '/saved-searches']) expect(await call('GET', path)).toEqual([]);
  });

  it('D5: with an unknown source are applied with a warning; columns are not checked, as those of dashboards', async () => {
    const metric = { ...perService, name: 'Metric', savedSearch: undefined };
    const members = {
      channels: [hook],
      savedSearches: [errors, { name: 'Elsewhere', sourceId: 'nowhere', where: '' }],
      alerts: [
        perService,
        { ...perService, name: 'Elsewhere', savedSearch: 'Elsewhere' },
        { ...metric, metric: { aggFn: 'count', sourceId: 'neither' } },
      ],
    };
    const { code, stderr } = await getServerStore(server).apply(JSON.parse(JSON.stringify(file(members))));
    expect({ code, warnings: stderr.split('\n').filter((line) => line !== '') }).toEqual({
      code: 0,
      warnings: [
        'warning: organizations[0].savedSearches[1].sourceId: The source does not exist <string:nowhere>',
        'warning: organizations[0].alerts[2].metric.sourceId: The source does not exist <string:neither>',
      ],
    });
    const column = { ...metric, name: 'Column', groupBy: 'NoSuchColumn', metric: { aggFn: 'count', sourceId: 'logs' } };
    const applied = await getServerStore(server).apply(JSON.parse(JSON.stringify(file({ alerts: [column] }))));
    expect([applied.code, applied.stderr]).toEqual([0, '']);
    // The API refuses it, and so does its preview.
    const stored = (await call('GET', '/alerts')).find(({ name }: Json) => name === 'Column');
    const body = { alert: stored, days: 1 };
    for (const path of ['/alerts', '/alerts/preview']) {
      const { status, json } = await server.call({
        method: 'POST',
        path: `/api/v2${path}`,
        token: acme.writer,
        body: path === '/alerts' ? stored : body,
      });
      expect([status, json.message], path).toEqual([400, expect.stringContaining('NoSuchColumn')]);
    }
  });

  it('F1: stay as they are, or deleted, when what they refer to is renamed or deleted over the API', async () => {
    const commands = getServerStore(server);
    // Declared anew, with names and thus ids that nothing had before.
    const search = { ...errors, name: 'Later' };
    const board = { name: 'Later', tiles: first.dashboards[0].tiles };
    const later = {
      channels: [hook],
      savedSearches: [search],
      dashboards: [...first.dashboards, board],
      alerts: [
        { ...perService, name: 'Of a search', savedSearch: 'Later' },
        { ...ofTile, name: 'Of a tile', dashboard: 'Later' },
      ],
    };
    await commands.plan(file(later), '--force');
    const find = async (path: string, name: string) => (await call('GET', path)).find((one: Json) => one.name === name);
    const stored = await find('/saved-searches', 'Later');
    await call('PUT', `/saved-searches/${stored.id}`, { ...stored, name: 'Renamed' });
    expect(await commands.plan(file(later))).toEqual([]);
    await call('DELETE', `/saved-searches/${stored.id}`);
    await call('DELETE', `/dashboards/${(await find('/dashboards', 'Later')).id}`);
    expect(await commands.plan(file(later))).toEqual([]);
    for (const name of ['Of a search', 'Of a tile']) expect(await find('/alerts', name)).toBeUndefined();
    const [changed, ...rest] = later.alerts;
    const [message] = await rejected({ ...later, alerts: [{ ...changed, threshold: 7 }, ...rest] });
    expect(message).toContain('alerts[0].savedSearch: There is no saved search with this name or id');
  });
});

onEachStore('the export of alerts', (store) => {
  const from = useStore(store);
  const to = useStore(store);

  it('F1: the example of the documentation can be applied, and is merged with itself', async () => {
    const [, example = ''] = /```yaml\n(# alerts\.yaml\n.*?)```/s.exec(readFileSync('docs/alerts.md', 'utf8')) ?? [];
    expect(await to.plan(example)).toHaveLength(8);
    expect(await to.plan(example, '--force', '--prune')).toEqual([]);
  });

  it('F1: names what is unique, and can be applied to the same and to another store', async () => {
    const full = {
      channels: [
        hook,
        { name: 'Pager', service: 'pagerduty', routingKey: 'routing-secret' },
        { name: 'Mail', service: 'email', to: ['ops@example.com'] },
        { name: 'Mail', service: 'slack', url: 'https://hooks.slack.com/services/a' },
      ],
      savedSearches: [errors],
      alerts: [
        perService,
        ofTile,
        { ...perService, name: 'Metric', savedSearch: undefined, metric: { aggFn: 'count', sourceId: 'logs' } },
      ],
    };
    expect(await from.plan(JSON.parse(JSON.stringify(file(full))))).not.toEqual([]);
    const ambiguous = JSON.parse(JSON.stringify(file({ ...full, alerts: [{ ...perService, channels: ['Mail'] }] })));
    expect(listErrors(await from.apply(ambiguous))).toEqual([
      expect.stringContaining('alerts[0].channels[0]: Several channels have this name; use the id of one'),
    ]);
    const { stdout } = await from.run('export');
    expect(stdout).not.toMatch(/routing-secret|header-secret|whsec_/);
    expect(await from.plan(stdout)).toEqual([]);
    expect(await from.plan(stdout, '--force', '--prune')).toEqual([]);
    const exported = await from.exportFirstOrganization();
    expect(exported.alerts).toContainEqual(
      expect.objectContaining({ dashboard: 'Acme board', tile: 'One', channels: ['On call'] }),
    );
    expect(exported.alerts).toContainEqual(expect.objectContaining({ savedSearch: 'Errors', source: 'saved_search' }));
    exported.channels.find(({ service }: Json) => service === 'pagerduty').routingKey = 'routing-secret';
    expect(await to.plan({ organizations: [exported] })).not.toEqual([]);
    expect((await to.exportFirstOrganization()).alerts).toEqual(exported.alerts);
  });
});
