import { afterEach, describe, expect, it } from 'vitest';
import { createClient, type Json } from '../support/client.ts';
import { openEventStream } from '../support/event-stream.ts';
import { acme, globex } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';
import { send } from '../support/otlp-client.ts';
import { toNanos, toRequest } from '../support/otlp-requests.ts';
import { createSearchClient } from '../support/search.ts';
import { until } from '../support/until.ts';

type Stream = Awaited<ReturnType<typeof openEventStream>>;

const LONG_FILTER = { type: 'sql', condition: `Body = '${'x'.repeat(5000)}'` };

describe('live tail', () => {
  const ingest = useIngest('libsql');
  const post = createSearchClient(() => ingest.server.url);
  const open: Stream[] = [];

  async function tail(body: object, token = acme.token): Promise<Stream> {
    const url = `${ingest.server.url}/api/v2/search/tail`;
    const stream = await openEventStream(
      url,
      { authorization: `Bearer ${token}` },
      { sourceId: 'logs', select: 'Body', ...body },
    );
    open.push(stream);
    return stream;
  }

  const log = (stringValue: string, at = Date.now()) => ({ timeUnixNano: toNanos(at), body: { stringValue } });

  async function sendLogs(token: string, ...records: object[]): Promise<void> {
    const target = { url: ingest.server.otlpUrl, authorization: `Bearer ${token}` };
    const { status } = await send(target, 'logs', toRequest('logs', records));
    expect(status).toBe(200);
  }

  const bodies = (stream: Stream): string[] => stream.listRows().map((row: Json) => row.Body);
  const untilBodies = (stream: Stream, count: number) =>
    until(
      async () => bodies(stream),
      (list) => list.length >= count,
      'the rows do not arrive',
    );

  afterEach(async () => {
    for (const stream of open.splice(0)) await stream.close();
  });

  it('sends each new row once, in order, to the watchers that it matches', async () => {
    await sendLogs(ingest.acme, log('before'));
    const all = await tail({});
    expect(all.response.headers.get('content-type')).toContain('text/event-stream');
    const failed = await tail({ where: 'failed', select: "Body, upper(Body) AS loud, LogAttributes['x'] AS x" });
    await sendLogs(ingest.acme, log('one failed'), log('two', Date.now() + 1));
    await sendLogs(ingest.globex, log('secret failed'));
    await untilBodies(all, 2);
    await sendLogs(ingest.acme, log('three failed', Date.now() - 60_000));
    expect(await untilBodies(all, 3)).toEqual(['one failed', 'two', 'three failed']);
    await untilBodies(failed, 2);
    expect(failed.listRows()).toEqual([
      { Body: 'one failed', loud: 'ONE FAILED', x: '' },
      { Body: 'three failed', loud: 'THREE FAILED', x: '' },
    ]);
  });

  it('sends the rows of a time that it has seen, and rows that other programs write', async () => {
    const stream = await tail({ where: 'same' });
    const at = Date.now();
    await sendLogs(ingest.acme, log('same one', at));
    await untilBodies(stream, 1);
    await ingest.server.engine.insert('otel_logs', [
      { OrganizationId: acme.id, Timestamp: new Date(at).toISOString(), Body: 'same two' },
    ]);
    expect(await untilBodies(stream, 2)).toEqual(['same one', 'same two']);
  });

  it('says how many rows are not shown', async () => {
    const stream = await tail({ where: 'many' });
    const at = Date.now();
    await sendLogs(ingest.acme, ...Array.from({ length: 500 }, (_, index) => log(`many ${index}`, at + index)));
    await untilBodies(stream, 200);
    const skipped = stream.events.filter(({ type }) => type === 'skipped').map(({ data }) => data.count);
    expect(skipped.reduce((sum, count) => sum + count, 0) + bodies(stream).length).toBe(500);
    expect(bodies(stream).at(-1)).toBe('many 499');
  });

  it('shows the rare rows of one client beside the many of another', async () => {
    const all = await tail({});
    const rare = await tail({ where: 'rare' });
    const at = Date.now();
    const many = Array.from({ length: 1000 }, (_, index) => log(`many ${index}`, at));
    await sendLogs(ingest.acme, log('rare', at - 1000), ...many);
    expect(await untilBodies(rare, 1)).toEqual(['rare']);
    await untilBodies(all, 200);
    expect(rare.events.map(({ type }) => type)).toEqual(['rows']);
  });

  it('rejects mistakes before the stream starts', async () => {
    const accept = { accept: 'text/event-stream' };
    const tailWith = (body: object) => post('search/tail', { sourceId: 'logs', ...body }, acme.token, accept);
    expect((await tailWith({ where: 'Nothing:x' })).status).toBe(400);
    expect((await tailWith({ select: 'Nothing' })).status).toBe(400);
    expect((await tailWith({ where: 'long', filters: Array(2).fill(LONG_FILTER) })).status).toBe(400);
    const unaccepted = await post('search/tail', { sourceId: 'logs' });
    expect([unaccepted.status, unaccepted.json.message]).toEqual([400, expect.stringContaining('Accept')]);
    expect((await tailWith({ sourceId: 'nothing' })).status).toBe(404);
    expect((await post('search/tail', { sourceId: 'logs' }, ingest.acme, accept)).status).toBe(403);
  });

  it('limits the streams of a token', async () => {
    const streams = [];
    for (let count = 0; count < 10; count++) streams.push(await tail({}, globex.token));
    const eleventh = await tail({}, globex.token);
    expect(eleventh.response.status).toBe(429);
    await streams[0]?.close();
    await until(
      async () => (await tail({}, globex.token)).response.status,
      (status) => status === 200,
      'a closed stream still counts',
    );
  });

  it('ends when its token is deleted', async () => {
    const call = createClient(() => ({ url: ingest.server.url, dashboardUrl: ingest.server.url }));
    const path = `/v1/organizations/${acme.id}/dashboardTokens`;
    const body = { name: 'for a while', access: 'read' };
    const { json } = await call({ method: 'POST', path, key: acme.admin, body });
    const { dashboardToken, token } = json.result;
    const stream = await tail({}, token);
    expect(stream.response.status).toBe(200);
    const { status } = await call({ method: 'DELETE', path: `${path}/${dashboardToken.id}`, key: acme.admin });
    expect(status).toBe(200);
    await stream.ended;
    expect(stream.events.at(-1)).toEqual({ type: 'end', data: { reason: 'The credentials are no longer valid' } });
  });

  it('goes on for others if the queries together are too large', async () => {
    const small = await tail({ where: 'beside' });
    const larger = [];
    for (let watcher = 1; watcher <= 4; watcher++) {
      const lengths = Array.from({ length: 300 }, (_, index) => `length(Body)!=${1000 * watcher + index}`);
      larger.push(await tail({ filters: [{ type: 'sql', condition: lengths.join(' AND ') }] }));
    }
    await sendLogs(ingest.acme, log('beside'));
    for (const stream of [small, ...larger]) {
      expect(await untilBodies(stream, 1)).toEqual(['beside']);
      expect(stream.events.filter(({ type }) => type === 'notice')).toEqual([]);
    }
  });

  it('ends when the server stops', async () => {
    const stream = await tail({});
    await ingest.server.close();
    await stream.ended;
    expect(stream.events.at(-1)).toEqual({ type: 'end', data: { reason: 'The server is stopping' } });
  });
});
