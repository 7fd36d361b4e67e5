import { expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { useClockedServer } from '../support/clocked-server.ts';
import { acme } from '../support/fleet.ts';
import { createIngestToken, sendLogs } from '../support/otlp-json.ts';
import { useReceiver } from '../support/receiver.ts';
import { onEachStore } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';

const MINUTE = 60_000;

onEachStore('an alert whose channels change while it fires', (store) => {
  const server = useClockedServer(store, { isShared: true, settings: { webhookAllowPrivate: 'yes' } });
  const receiver = useReceiver();
  const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const response = await server.call({ method, path, token: acme.writer, ...(body !== undefined && { body }) });
    expect(response.status, response.text).toBe(200);
    return response.json.data;
  };

  let word = '';
  let tests = 0;
  const toWebhook = (name: string, place = name) => ({
    name,
    service: 'generic',
    url: `${receiver.url}&to=${place}`,
    body: '{"title": "{{title}}", "eventId": "{{eventId}}"}',
  });

  /** Three channels, and an alert that has the first. */
  async function create(more: object = {}) {
    for (const path of ['/api/v2/alerts', '/api/v2/webhooks']) {
      for (const { id } of await call('GET', path)) await call('DELETE', `${path}/${id}`);
      // Deliveries of what was deleted.
      await server.evaluateAlerts();
    }
    word = `error${++tests}`;
    receiver.received.length = 0;
    receiver.status = 204;
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) ids.push((await call('POST', '/api/v2/webhooks', toWebhook(name))).id);
    const [a, b, c] = ids as [string, string, string];
    const search = await call('POST', '/api/v2/saved-searches', { name: 'Errors', sourceId: 'logs', where: word });
    const input = {
      savedSearchId: search.id,
      interval: '1m',
      threshold: 3,
      thresholdType: 'above',
      repeatMinutes: 0,
      ...more,
    };
    const toChannels = (channels: string[]) => channels.map((webhookId) => ({ type: 'webhook', webhookId }));
    const { id } = await call('POST', '/api/v2/alerts', { ...input, channels: toChannels([a]) });
    server.now = Math.ceil(server.now / MINUTE) * MINUTE;
    await server.evaluateAlerts();
    return {
      id,
      a,
      b,
      c,
      searchId: search.id,
      move: (...channels: string[]) =>
        call('PUT', `/api/v2/alerts/${id}`, { ...input, channels: toChannels(channels) }),
    };
  }

  let token: string | undefined;
  /** Rows in the window that ends now; then its evaluation. */
  async function pass(rows: Record<string, number> = {}): Promise<void> {
    token ??= (await createIngestToken(server, acme)).token;
    for (const [service, count] of Object.entries(rows)) {
      const logs = Array.from({ length: count }, () => ({ body: `an ${word}`, at: server.now - 30_000 }));
      await sendLogs(server, token, service, logs);
    }
    server.now += 20_000;
    await server.evaluateAlerts();
    server.now += MINUTE - 20_000;
  }
  /** What the channels got since the last call, and each message once. */
  function take(): string[] {
    const requests = receiver.received.splice(0);
    const ids = requests.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(ids.length);
    const texts = requests.map(({ path, body }) => `${path.split('to=')[1]} ${JSON.parse(body).title}`);
    return texts.map((text) => text.replace(/: Errors.*?(: .*)$/, (_, end) => end.replace(/ \(fires.*\)/, ''))).sort();
  }

  it('is resolved where it was announced, and the new channel is told that it fires', async () => {
    const { a, b, move } = await create();
    await pass({ api: 3 });
    const [fired] = receiver.received.map(({ body }) => JSON.parse(body).eventId);
    expect(take()).toEqual(['a Firing: 3 ≥ 3']);
    await move(b);
    await pass({ api: 4 });
    expect(take()).toEqual(['b Firing: 4 ≥ 3']);
    await pass({ api: 4 });
    expect(take()).toEqual([]);
    await pass();
    expect(receiver.received.map(({ body }) => JSON.parse(body).eventId)).toEqual([fired, fired]);
    expect(take()).toEqual(['a Resolved: 0', 'b Resolved: 0']);
    await pass({ api: 3 });
    await pass();
    expect(take()).toEqual(['b Firing: 3 ≥ 3', 'b Resolved: 0']);
    expect(await call('GET', `/api/v2/notifications?channelId=${a}`)).toHaveLength(2);
  });

  it('tells a new channel within a minute, also with long windows, and resolves a channel that was removed', async () => {
    const { a, b, c, move } = await create({ interval: '15m' });
    const passWindow = async (rows: Record<string, number>) => {
      server.now = Math.ceil(server.now / (15 * MINUTE)) * 15 * MINUTE + 15 * MINUTE;
      await pass(rows);
    };
    await move(a, b);
    await passWindow({ api: 3 });
    expect(take()).toEqual(['a Firing: 3 ≥ 3', 'b Firing: 3 ≥ 3']);
    await move(b, c);
    server.now += MINUTE;
    await server.evaluateAlerts();
    expect(take()).toEqual(['c Firing: 3 ≥ 3']);
    await move(c);
    await move(a, c);
    server.now += MINUTE;
    await server.evaluateAlerts();
    expect(take()).toEqual([]);
    await server.restart();
    await passWindow({});
    expect(take()).toEqual(['a Resolved: 0', 'b Resolved: 0', 'c Resolved: 0']);
  });

  it('is repeated in its channels only, at the times of before', async () => {
    const { b, move } = await create({ repeatMinutes: 3 });
    await pass({ api: 3 });
    await move(b);
    await pass({ api: 3 });
    expect(take()).toEqual(['a Firing: 3 ≥ 3', 'b Firing: 3 ≥ 3']);
    await pass({ api: 3 });
    expect(take()).toEqual([]);
    await pass({ api: 3 });
    expect(take()).toEqual(['b Firing: 3 ≥ 3']);
    await pass({ api: 3 });
    expect(take()).toEqual([]);
  });

  it('is resolved where it was announced when it is deleted', async () => {
    const { id, b, move } = await create({ groupBy: 'ServiceName' });
    await pass({ api: 3 });
    await move(b);
    await pass({ api: 3, web: 3 });
    await move(b);
    expect(take()).toHaveLength(3);
    await call('DELETE', `/api/v2/alerts/${id}`);
    await server.evaluateAlerts();
    const deleted = 'Resolved: The alert was deleted';
    expect(take()).toEqual([`a ${deleted}`, `b ${deleted}`, `b ${deleted}`]);
  });

  it('is resolved in a channel that is deleted, which happens at once, and goes on elsewhere', async () => {
    const { a, b, move } = await create();
    await pass({ api: 3 });
    expect((await server.call({ method: 'DELETE', path: `/api/v2/webhooks/${a}`, token: acme.writer })).status).toBe(
      409,
    );
    await move(b);
    await pass({ api: 3 });
    expect(take()).toEqual(['a Firing: 3 ≥ 3', 'b Firing: 3 ≥ 3']);
    await call('DELETE', `/api/v2/webhooks/${a}`);
    await server.evaluateAlerts();
    expect(take()).toEqual(['a Resolved: The webhook was deleted']);
    await pass({ api: 3 });
    await pass();
    expect(take()).toEqual(['b Resolved: 0']);
  });

  it('is resolved in a deleted channel whose receiver did not respond, and its address is not kept after that', async () => {
    const { a, b, move } = await create();
    await pass({ api: 3 });
    await move(b);
    await pass({ api: 3 });
    take();
    receiver.status = 500;
    await pass();
    take();
    await call('DELETE', `/api/v2/webhooks/${a}`);
    receiver.status = 204;
    server.now += MINUTE;
    await server.evaluateAlerts();
    expect(take()).toEqual(['a Resolved: 0', 'b Resolved: 0']);
    const [{ id }] = await call('GET', `/api/v2/notifications?channelId=${a}`);
    await call('POST', `/api/v2/notifications/${id}/send-again`);
    await server.evaluateAlerts();
    expect(take()).toEqual([]);
    expect((await call('GET', `/api/v2/notifications?channelId=${a}`))[0].status).toBe('cancelled');
  });

  it('is resolved at the current address of a channel', async () => {
    const { a } = await create();
    await pass({ api: 3 });
    await call('PUT', `/api/v2/webhooks/${a}`, toWebhook('a', 'moved'));
    await pass();
    expect(take()).toEqual(['a Firing: 3 ≥ 3', 'moved Resolved: 0']);
  });

  it('waits for the end of a silence in all of them', async () => {
    const { id, b, move } = await create();
    await pass({ api: 3 });
    expect(take()).toEqual(['a Firing: 3 ≥ 3']);
    const until = new Date(server.now + 2.1 * MINUTE).toISOString();
    await call('POST', `/api/v2/alerts/${id}/silence`, { until });
    await move(b);
    await pass({ api: 3 });
    await pass({ api: 3 });
    expect(take()).toEqual([]);
    await pass({ api: 3 });
    expect(take()).toEqual(['b Firing: 3 ≥ 3']);
    await pass();
    expect(take()).toEqual(['a Resolved: 0', 'b Resolved: 0']);
  });

  it('is acknowledged where it was announced, and no new channel is told what a person has seen', async () => {
    const { id, b, c, move } = await create();
    await pass({ api: 3 });
    await move(b);
    await pass({ api: 3 });
    expect(take()).toHaveLength(2);
    await call('POST', `/api/v2/alerts/${id}/acknowledge`);
    await server.evaluateAlerts();
    expect(take()).toEqual([expect.stringMatching(/^a Acknowledged/), expect.stringMatching(/^b Acknowledged/)]);
    await move(c);
    await pass({ api: 3 });
    await pass();
    expect(take()).toEqual(['a Resolved: 0', 'b Resolved: 0']);
  });

  it('resolves what more than 20 groups share, in each channel with the last group that was announced there', async () => {
    const { a, b, move } = await create({ groupBy: 'ServiceName' });
    const names = Array.from({ length: 22 }, (_, index) => `s${index}`);
    const toRows = (services: string[]) => Object.fromEntries(services.map((name) => [name, 3]));
    const shared = () => take().filter((text) => /more groups|all other/.test(text));
    await pass(toRows(names));
    const own = receiver.received.flatMap(({ body }) => /ServiceName:(\w+)/.exec(JSON.parse(body).title)?.[1] ?? []);
    expect(shared()).toEqual(['a Firing: 2 more groups']);
    await move(b);
    await pass(toRows([...names, 'last']));
    expect(shared()).toEqual(['b Firing: 3 more groups']);
    await pass(toRows([...own, 'last']));
    expect(shared()).toEqual(['a Resolved: all other groups']);
    await pass(toRows(own));
    expect(shared()).toEqual(['b Resolved: all other groups']);
    await pass();
    const notices = take();
    expect(notices.filter((text) => text.startsWith('a Resolved'))).toHaveLength(20);
    expect(notices).toHaveLength(40);
    expect(await call('GET', `/api/v2/notifications?channelId=${a}&limit=200`)).toHaveLength(42);
  });

  it('that cannot be evaluated says so to the new channel, and to both when it can be again', async () => {
    const { id, b, c, move, searchId } = await create();
    const search = { name: 'Errors', sourceId: 'logs' };
    await call('PUT', `/api/v2/saved-searches/${searchId}`, { ...search, where: 'NoSuchField:1' });
    await pass();
    await pass();
    expect(take()).toEqual([expect.stringMatching(/^a Cannot be evaluated/)]);
    // It is checked when it is changed, so it works meanwhile; the silence keeps that from being sent.
    await call('POST', `/api/v2/alerts/${id}/silence`, { until: new Date(server.now + 60 * MINUTE).toISOString() });
    await call('PUT', `/api/v2/saved-searches/${searchId}`, { ...search, where: word });
    await move(b, c);
    await call('PUT', `/api/v2/saved-searches/${searchId}`, { ...search, where: 'NoSuchField:1' });
    await call('DELETE', `/api/v2/alerts/${id}/silence`);
    await pass();
    await pass();
    await pass();
    const notices = take();
    expect(notices).toEqual(
      expect.arrayContaining([/^b Cannot/, /^c Cannot/].map((text) => expect.stringMatching(text))),
    );
    await call('PUT', `/api/v2/saved-searches/${searchId}`, { ...search, where: word });
    await pass();
    const works = 'Resolved: The alert can be evaluated again';
    // The first channel is told then, or before, if the alert was evaluated while it worked.
    expect([...notices, ...take()].map((text) => text.replace(/^(. Cannot).*/, '$1')).sort()).toEqual([
      `a ${works}`,
      'b Cannot',
      `b ${works}`,
      'c Cannot',
      `c ${works}`,
    ]);
  });

  it('that an earlier version announced is resolved in the channels it had', async () => {
    const { id, b, move } = await create();
    await pass({ api: 3 });
    expect(take()).toEqual(['a Firing: 3 ≥ 3']);
    const [row] = await runSql(server, `SELECT document FROM alert_groups WHERE alert_id = '${id}'`);
    const stored: unknown[][] = JSON.parse(String(row?.document));
    const document = JSON.stringify(stored.map((group) => group.slice(0, 11)));
    expect(document).not.toBe(row?.document);
    await runSql(server, `UPDATE alert_groups SET document = '${document}' WHERE alert_id = '${id}'`);
    await pass({ api: 3 });
    await move(b);
    await pass({ api: 3 });
    await pass();
    expect(take()).toEqual(['a Resolved: 0', 'b Firing: 3 ≥ 3', 'b Resolved: 0']);
  });
});
