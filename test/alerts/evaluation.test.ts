import { expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { useClockedServer } from '../support/clocked-server.ts';
import { acme } from '../support/fleet.ts';
import { createIngestToken, sendLogs } from '../support/otlp-json.ts';
import { useReceiver } from '../support/receiver.ts';
import { onEachStore } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';

const MINUTE = 60_000;

onEachStore('the evaluation of alerts', (store) => {
  const server = useClockedServer(store, {
    isShared: true,
    settings: { webhookAllowPrivate: 'yes', publicUrl: 'https://ops.example/' },
  });
  const receiver = useReceiver();
  const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const response = await server.call({ method, path, token: acme.writer, ...(body !== undefined && { body }) });
    expect(response.status, response.text).toBe(200);
    return response.json.data;
  };

  /** The word that the alert of the current test counts, so that the rows of other tests do not matter. */
  let word = '';
  let tests = 0;
  async function createAlert(more: object = {}): Promise<string> {
    for (const path of ['/api/v2/alerts', '/api/v2/webhooks']) {
      for (const { id } of await call('GET', path)) await call('DELETE', `${path}/${id}`);
      // Deliveries of what was deleted.
      await server.evaluateAlerts();
    }
    word = `error${++tests}`;
    receiver.received.length = 0;
    receiver.status = 204;
    const body = JSON.stringify({
      state: '{{state}}',
      title: '{{title}}',
      body: '{{body}}',
      link: '{{link}}',
      eventId: '{{eventId}}',
    });
    const webhook = await call('POST', '/api/v2/webhooks', {
      name: 'hook',
      service: 'generic',
      url: receiver.url,
      body,
    });
    const search = await call('POST', '/api/v2/saved-searches', { name: 'Errors', sourceId: 'logs', where: word });
    const alert = await call('POST', '/api/v2/alerts', {
      savedSearchId: search.id,
      channel: { type: 'webhook', webhookId: webhook.id },
      interval: '1m',
      threshold: 3,
      thresholdType: 'above',
      ...more,
    });
    return alert.id;
  }

  let token: string | undefined;
  async function log(service: string, count: number, at = server.now): Promise<void> {
    if (count === 0) return;
    token ??= (await createIngestToken(server, acme)).token;
    await sendLogs(
      server,
      token,
      service,
      Array.from({ length: count }, () => ({ body: `an ${word}`, at })),
    );
  }
  /** Rows in the window that ends now; then its evaluation. */
  async function pass(rows: Record<string, number> = {}): Promise<void> {
    for (const [service, count] of Object.entries(rows)) await log(service, count, server.now - 30_000);
    server.now += 20_000;
    await server.evaluateAlerts();
    server.now += MINUTE - 20_000;
  }
  const start = async () => {
    server.now = Math.ceil(server.now / MINUTE) * MINUTE;
    await server.evaluateAlerts();
  };
  const get = (id: string) => call('GET', `/api/v2/alerts/${id}`);
  const titles = () => receiver.received.map(({ body }) => JSON.parse(body).title);

  it('notifies when the state changes, and not in between', async () => {
    const id = await createAlert();
    await start();
    await pass({ api: 2 });
    expect(await get(id)).toMatchObject({ status: 'ok', state: 'OK', lastValue: 2 });
    await pass({ api: 3 });
    expect(await get(id)).toMatchObject({ status: 'firing', state: 'ALERT', lastValue: 3, firingGroups: 1 });
    await pass({ api: 5 });
    await pass();
    expect(await get(id)).toMatchObject({ status: 'ok', lastValue: 0 });
    expect(titles()).toEqual(['Firing: Errors: 3 ≥ 3', 'Resolved: Errors: 0 (fires if ≥ 3)']);
    const [fired, resolved] = receiver.received.map(({ body }) => JSON.parse(body));
    expect(fired.link).toBe(`https://ops.example/console/alerts/${id}`);
    expect(fired.body).toContain(`an ${word}`);
    expect(resolved.eventId).toBe(fired.eventId);
    const evaluations = await call('GET', `/api/v2/alerts/${id}/evaluations?limit=3`);
    expect(evaluations).toMatchObject([
      { status: 'ok', isChange: true, value: 0 },
      { status: 'firing', isChange: false, value: 5, shown: [{ labels: [], status: 'firing', value: 5 }] },
      { status: 'firing', isChange: true, value: 3, queryMs: expect.any(Number) },
    ]);
    expect(await call('GET', `/api/v2/alerts/${id}/evaluations?changes=true`)).toHaveLength(2);
  });

  it('has a state and a message for each group', async () => {
    const id = await createAlert({ groupBy: 'ServiceName', name: 'Errors of {{attributes.ServiceName}}' });
    await start();
    await pass({ api: 3, web: 1 });
    expect(titles()).toEqual(['Firing: Errors of api (ServiceName:api): 3 ≥ 3']);
    await pass({ api: 4, web: 7 });
    expect(await get(id)).toMatchObject({ firingGroups: 2, lastValue: 7 });
    expect((await call('GET', `/api/v2/alerts/${id}/groups`)).groups.map(({ labels }: Json) => labels)).toEqual([
      ['api'],
      ['web'],
    ]);
    await pass({ web: 7 });
    expect(titles().slice(1)).toEqual([
      'Firing: Errors of web (ServiceName:web): 7 ≥ 3',
      'Resolved: Errors of api (ServiceName:api): 0 (fires if ≥ 3)',
    ]);
  });

  it('catches up after a pause with one message, and considers what came late', async () => {
    const id = await createAlert({ evaluationDelaySeconds: 60 });
    await start();
    server.now += MINUTE;
    await server.evaluateAlerts();
    const { evaluatedUntil } = await get(id);
    await log('api', 3, server.now - 90_000);
    server.now += 10 * MINUTE;
    await log('api', 4, server.now - 90_000);
    await server.evaluateAlerts();
    expect(titles()).toEqual(['Firing: Errors: 4 ≥ 3']);
    const evaluations: Json[] = await call('GET', `/api/v2/alerts/${id}/evaluations`);
    const later = evaluations.filter(({ windowEnd }) => windowEnd > evaluatedUntil);
    expect(later.map(({ value }) => value)).toEqual([4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  });

  it('repeats a message while it fires, until a person acknowledges it', async () => {
    const id = await createAlert({ repeatMinutes: 2 });
    await start();
    for (let minute = 0; minute < 4; minute++) await pass({ api: 3 });
    expect(titles()).toHaveLength(2);
    expect((await call('POST', `/api/v2/alerts/${id}/acknowledge`)).acknowledged).toMatchObject({
      by: expect.any(String),
    });
    await server.evaluateAlerts();
    for (let minute = 0; minute < 4; minute++) await pass({ api: 3 });
    expect(titles().slice(2)).toEqual([expect.stringContaining('Acknowledged')]);
    await pass();
    expect(titles().at(-1)).toContain('Resolved');
  });

  it('sends nothing while it is silenced, and what is still true afterwards', async () => {
    const id = await createAlert();
    await start();
    const until = new Date(server.now + 2.1 * MINUTE).toISOString();
    await call('POST', `/api/v2/alerts/${id}/silence`, { until });
    await pass({ api: 3 });
    await pass({ api: 3 });
    expect(await get(id)).toMatchObject({ status: 'firing' });
    expect(titles()).toEqual([]);
    await pass({ api: 3 });
    expect(titles()).toEqual(['Firing: Errors: 3 ≥ 3']);
  });

  it('sends at the end of a silence, and not with the next window, that it is resolved', async () => {
    const id = await createAlert({ interval: '15m' });
    const passWindow = async () => {
      server.now = Math.floor(server.now / (15 * MINUTE) + 1) * 15 * MINUTE + 20_000;
      await server.evaluateAlerts();
    };
    await passWindow();
    await log('api', 3, server.now);
    await passWindow();
    expect(titles()).toEqual(['Firing: Errors: 3 ≥ 3']);
    const until = new Date(server.now + 20 * MINUTE).toISOString();
    await call('POST', `/api/v2/alerts/${id}/silence`, { until });
    await passWindow();
    expect(await get(id)).toMatchObject({ status: 'ok' });
    expect(titles()).toHaveLength(1);
    // The next window ends in 15 minutes.
    server.now += 6 * MINUTE;
    await server.evaluateAlerts();
    expect(titles().slice(1)).toEqual(['Resolved: Errors: 0 (fires if ≥ 3)']);
  });

  it('that fails is a state of its own, notifies, and is evaluated again', async () => {
    const id = await createAlert();
    const { savedSearchId } = await get(id);
    await start();
    const search = { name: 'Errors', sourceId: 'logs' };
    await call('PUT', `/api/v2/saved-searches/${savedSearchId}`, { ...search, where: 'NoSuchField:1' });
    await pass();
    expect(await get(id)).toMatchObject({
      status: 'failed',
      state: 'INSUFFICIENT_DATA',
      executionErrors: [{ type: 'QUERY_ERROR', message: expect.stringContaining('NoSuchField') }],
    });
    expect(titles()).toEqual([]);
    await pass();
    expect(titles()).toEqual([expect.stringMatching(/^Cannot be evaluated: Errors: .*NoSuchField/)]);
    await call('PUT', `/api/v2/saved-searches/${savedSearchId}`, { ...search, where: word });
    await pass({ api: 1 });
    expect(await get(id)).toMatchObject({ status: 'ok', executionErrors: [] });
    expect(titles().at(-1)).toBe('Resolved: Errors: The alert can be evaluated again');
  });

  it('that fails is tried again every minute, and its end is sent after a silence', async () => {
    const id = await createAlert();
    const { savedSearchId } = await get(id);
    await start();
    const search = { name: 'Errors', sourceId: 'logs' };
    await call('PUT', `/api/v2/saved-searches/${savedSearchId}`, { ...search, where: 'NoSuchField:1' });
    server.now += MINUTE + 20_000;
    for (let second = 0; second <= 65; second += 5) {
      await server.evaluateAlerts();
      server.now += 5000;
    }
    const evaluations: Json[] = await call('GET', `/api/v2/alerts/${id}/evaluations`);
    expect(evaluations.filter(({ error }) => error)).toHaveLength(2);
    expect(titles()).toEqual([expect.stringMatching(/^Cannot be evaluated/)]);
    const until = new Date(server.now + 5 * MINUTE).toISOString();
    await call('POST', `/api/v2/alerts/${id}/silence`, { until });
    await call('PUT', `/api/v2/saved-searches/${savedSearchId}`, { ...search, where: word });
    await pass();
    await pass();
    expect(await get(id)).toMatchObject({ status: 'ok', executionErrors: [] });
    expect(titles()).toHaveLength(1);
    server.now += 5 * MINUTE;
    await pass();
    await pass();
    expect(titles().slice(1)).toEqual(['Resolved: Errors: The alert can be evaluated again']);
  });

  it('whose first window starts in the future waits for it', async () => {
    const scheduleStartAt = new Date(server.now + 10 * MINUTE).toISOString();
    const id = await createAlert({ scheduleStartAt });
    await server.evaluateAlerts();
    const [row] = await runSql(server, `SELECT next_evaluation_at AS at FROM alerts WHERE id = '${id}'`);
    expect(Number(row?.at)).toBe(Date.parse(scheduleStartAt) + MINUTE + 15_000);
    server.now += 12 * MINUTE;
    await server.evaluateAlerts();
    expect(await call('GET', `/api/v2/alerts/${id}/evaluations`)).toHaveLength(1);
  });

  it('that fires and is deleted, itself or with its tile, dashboard or saved search, sends that it is resolved', async () => {
    const series = [{ type: 'time', aggFn: 'count', sourceId: 'logs', where: '', groupBy: [] }];
    const tiles = ['Logs', 'Rows'].map((name) => ({ name, x: 0, y: 0, w: 12, h: 4, series }));
    const board = await call('POST', '/api/v2/dashboards', { name: 'Shop', tiles });
    const path = `/api/v2/dashboards/${board.id}`;
    const [logs, rows] = board.tiles;
    const id = await createAlert();
    const { channel, savedSearchId, ...other } = await get(id);
    const watching = { ...other, source: 'tile', dashboardId: board.id, channel };
    for (const { id: tileId } of [logs, rows]) await call('POST', '/api/v2/alerts', { ...watching, tileId });
    await call('POST', '/api/v2/alerts', { ...other, channel, savedSearchId, name: 'Grouped', groupBy: 'ServiceName' });
    await start();
    await pass({ api: 3 });
    expect(titles()).toHaveLength(4);
    const untilResolved = async (...expected: string[]) => {
      await server.evaluateAlerts();
      expect(titles().slice(4)).toEqual(expected.map((name) => `Resolved: ${name}: The alert was deleted`));
    };
    await call('DELETE', `/api/v2/alerts/${id}`);
    await untilResolved('Errors');
    await call('PUT', path, { ...board, tiles: [rows] });
    await untilResolved('Errors', 'Shop: Logs');
    await call('DELETE', path);
    await untilResolved('Errors', 'Shop: Logs', 'Shop: Rows');
    await call('DELETE', `/api/v2/saved-searches/${savedSearchId}`);
    await untilResolved('Errors', 'Shop: Logs', 'Shop: Rows', 'Grouped (ServiceName:api)');
    expect(await call('GET', '/api/v2/alerts')).toEqual([]);
    const events = receiver.received.map(({ body }) => JSON.parse(body).eventId);
    expect(new Set(events.slice(4))).toEqual(new Set(events.slice(0, 4)));
  });

  it('that fired is an annotation, of a tile only on its dashboard', async () => {
    const series = [{ type: 'time', aggFn: 'count', sourceId: 'logs', where: '', groupBy: [] }];
    const tiles = [{ name: 'Logs', x: 0, y: 0, w: 12, h: 4, series }];
    const board = await call('POST', '/api/v2/dashboards', { name: 'Shop', tiles });
    const id = await createAlert({ labels: { team: 'shop' } });
    const { savedSearchId: _, ...alert } = await get(id);
    const watching = { source: 'tile', dashboardId: board.id, tileId: board.tiles[0].id };
    await call('POST', '/api/v2/alerts', { ...alert, ...watching, threshold: 7 });
    await start();
    const startMs = server.now;
    const list = async (query = ''): Promise<Json[]> =>
      (await call('GET', `/api/v2/annotations?start=${startMs}&end=${server.now}${query}`)).filter(
        ({ kind }: Json) => kind === 'alert',
      );
    await pass({ api: 3 });
    await pass();
    const first = {
      title: 'Errors fired',
      text: '3 ≥ 3',
      time: startMs,
      endTime: startMs + MINUTE,
      tags: ['team: shop'],
      link: `https://ops.example/console/alerts/${id}`,
    };
    expect(await list()).toMatchObject([first]);
    await pass({ api: 8 });
    const second = { title: 'Errors fired', text: '8 ≥ 3, not resolved yet', time: startMs + 2 * MINUTE };
    const ofTile = { title: 'Shop: Logs fired', text: '8 ≥ 7, not resolved yet', dashboardId: board.id };
    const found = await list();
    expect(found).toHaveLength(3);
    for (const one of [first, { ...second, endTime: server.now }, ofTile])
      expect(found).toContainEqual(expect.objectContaining(one));
    expect(await list('&dashboardId=other')).toMatchObject([second, first]);
    // It began before the range.
    expect((await call('GET', `/api/v2/annotations?start=${server.now - 1}&end=${server.now}`)).length).toBe(2);
  });

  it('goes on after a restart, and after the clock was set back', async () => {
    const id = await createAlert();
    await start();
    await pass({ api: 3 });
    await server.restart();
    await server.evaluateAlerts();
    expect(await get(id)).toMatchObject({ status: 'firing' });
    server.step(-3 * 3_600_000);
    await pass({ api: 1 });
    await pass({ api: 1 });
    expect(await get(id)).toMatchObject({ status: 'ok', lastValue: 1 });
    // The server may evaluate an empty window between the change of the clock and the first row.
    const resolved = expect.stringMatching(/^Resolved: Errors: [01] \(fires if ≥ 3\)$/);
    expect(titles()).toEqual(['Firing: Errors: 3 ≥ 3', resolved]);
  });

  it('can be replayed before the alert is saved', async () => {
    await createAlert();
    await start();
    const end = server.now;
    await log('api', 5, end - 10 * MINUTE + 1000);
    await log('api', 9, end - 9 * MINUTE + 1000);
    await log('web', 3, end - 5 * MINUTE + 1000);
    server.now += 20_000;
    const [stored] = await call('GET', '/api/v2/alerts');
    const alert = { ...stored, groupBy: 'ServiceName', threshold: 3 };
    for (const name of [
      'id',
      'teamId',
      'state',
      'status',
      'statusSince',
      'executionErrors',
      'firingGroups',
      'lastValue',
      'evaluatedUntil',
      'createdAt',
      'updatedAt',
    ])
      delete alert[name];
    const replay = await call('POST', '/api/v2/alerts/preview', { alert, days: 1 });
    expect(replay).toMatchObject({ windows: 1440, messages: 4, firingSeconds: 180, moreIncidents: 0 });
    expect(replay.incidents).toMatchObject([
      { group: ['api'], seconds: 120, peak: 9 },
      { group: ['web'], seconds: 60, peak: 3 },
    ]);
  });

  it('watches what the control plane knows', async () => {
    const id = await createAlert({
      source: 'condition',
      condition: 'key_expiry_days',
      threshold: 7,
      thresholdType: 'below',
    });
    await start();
    const path = `/v1/organizations/${acme.id}/keys`;
    const expireAt = new Date(server.now + 3 * 86_400_000).toISOString();
    const created = await server.call({ method: 'POST', path, key: acme.admin, body: { name: 'soon', expireAt } });
    expect(created.status, created.text).toBe(200);
    await pass();
    expect(titles()).toEqual([expect.stringContaining('soon')]);
    const { id: keyId } = created.json.result.key;
    expect((await server.call({ method: 'DELETE', path: `${path}/${keyId}`, key: acme.admin })).status).toBe(200);
    await pass();
    expect(await get(id)).toMatchObject({ status: 'ok' });
    expect(titles().at(-1)).toContain('Resolved');
  });

  it('watches the backups of services', async () => {
    const id = await createAlert({
      source: 'condition',
      condition: 'service_backup_failed_minutes',
      threshold: 1,
      thresholdType: 'above',
    });
    await start();
    const insert = (backupId: string, status: string, startedAt: number) =>
      runSql(
        server,
        `INSERT INTO service_backups (organization_id, id, service_id, chain_id, directory_id, status, started_at, size_bytes, document)
         VALUES ('${acme.id}', '${backupId}', '${acme.primary}', '${backupId}', 'another', '${status}', ${startedAt}, 0, '{}')`,
      );
    await insert('failed', 'error', server.now - 300_000);
    await pass();
    expect(titles()).toEqual([expect.stringContaining(acme.primary)]);
    await insert('done', 'done', server.now);
    await pass();
    expect(await get(id)).toMatchObject({ status: 'ok' });
  });
});
