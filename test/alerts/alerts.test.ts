import { expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { HEX_ID } from '../support/dashboards.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

const PATH = '/api/v2/alerts';
const MANAGED = `/v1/organizations/${acme.id}/services/${acme.primary}/clickstack`;

/** Whole seconds: responses leave out a fraction of zero. */
const inSeconds = (seconds: number) =>
  new Date(Math.floor(Date.now() / 1000 + seconds) * 1000).toISOString().replace('.000Z', 'Z');

onEachStore('alerts', (store) => {
  const server = useServer(store);
  const call = (method: string, path: string, body?: unknown, token = acme.writer) =>
    server.call({ method, path, token, ...(body === undefined ? {} : { body }) });
  const created = async (path: string, body: object): Promise<Json> => {
    const { status, json, text } = await call('POST', path, body);
    expect(status, text).toBe(200);
    return json.data;
  };

  let names = 0;
  const createWebhook = async () => {
    names++;
    const body = { name: `receiver ${names}`, service: 'generic', url: 'https://example.com/hook' };
    return (await created('/api/v2/webhooks', body)).id as string;
  };
  const createSearch = async () => (await created('/api/v2/saved-searches', { name: 'Errors', sourceId: 'logs' })).id;
  const createInput = async (more: object = {}) => ({
    source: 'saved_search',
    savedSearchId: await createSearch(),
    channel: { type: 'webhook', webhookId: await createWebhook() },
    interval: '5m',
    threshold: 100,
    thresholdType: 'above',
    scheduleStartAt: null,
    ...more,
  });

  it('are created, read, updated and deleted', async () => {
    const input = await createInput();
    const alert = await created(PATH, input);
    expect(alert).toMatchObject({
      ...input,
      id: expect.stringMatching(HEX_ID),
      teamId: acme.id,
      channels: [input.channel],
      name: null,
      message: null,
      note: null,
      groupBy: null,
      thresholdMax: null,
      numConsecutiveWindows: null,
      scheduleOffsetMinutes: 0,
      executionErrors: [],
      repeatMinutes: 240,
      noDataBehavior: 'no_data',
    });
    expect((await call('GET', `${PATH}/${alert.id}`, undefined, acme.token)).json.data).toMatchObject(input);
    const changes = { threshold: 200, thresholdType: 'not_between', thresholdMax: 800, groupBy: 'ServiceName' };
    const own = { pendingMinutes: 10, labels: { team: 'shop' }, name: 'Errors of {{attributes.ServiceName}}' };
    const updated = await call('PUT', `${PATH}/${alert.id}`, {
      ...input,
      ...changes,
      ...own,
      numConsecutiveWindows: 2,
    });
    expect(updated.json.data).toMatchObject({ ...changes, ...own, numConsecutiveWindows: 2 });
    // A client of the public interface does not send what it does not know.
    const again = await call('PUT', `${PATH}/${alert.id}`, { ...input, threshold: 300 });
    expect(again.json.data).toMatchObject({ threshold: 300, name: null, groupBy: null, numConsecutiveWindows: null });
    expect(again.json.data).toMatchObject({ thresholdMax: 800, pendingMinutes: 10, labels: { team: 'shop' } });
    expect((await call('DELETE', `${PATH}/${alert.id}`)).status).toBe(200);
    const gone = await call('GET', `${PATH}/${alert.id}`);
    expect([gone.status, gone.json]).toEqual([404, { message: 'Alert not found' }]);
  });

  it.each([
    { api: '/api/v2', prefix: '/api/v2', credentials: { token: acme.writer } },
    { api: '/v1', prefix: MANAGED, credentials: { key: acme.admin } },
  ])('are changed and deleted with If-Match only if they are as they were read, on $api', async (given) => {
    const { prefix, credentials } = given;
    const input = await createInput();
    const send = (method: string, path: string, body?: object, ifMatch?: string) =>
      server.call({
        method,
        path: `${prefix}${path}`,
        ...credentials,
        ...(body && { body }),
        ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } }),
      });
    const create = await send('POST', '/alerts', input);
    expect(create.status, create.text).toBe(200);
    const { id } = create.json.data ?? create.json.result;
    const path = `/alerts/${id}`;
    const first = create.headers.get('etag') ?? '';
    expect(first).toMatch(/^W\/".+"$/);
    for (const read of [await send('GET', path), await call('GET', `${PATH}/${id}`)])
      expect(read.headers.get('etag')).toBe(first);
    const changed = await send('PUT', path, { ...input, threshold: 5 }, first);
    expect(changed.status, changed.text).toBe(200);
    const second = changed.headers.get('etag') ?? '';
    expect(second).not.toBe(first);
    const stale = await send('PUT', path, { ...input, threshold: 6 }, first);
    expect([stale.status, stale.json.message ?? stale.json.error]).toEqual([412, expect.stringContaining('If-Match')]);
    expect((await send('DELETE', path, undefined, first)).status).toBe(412);
    expect((await call('GET', `${PATH}/${id}`)).json.data.threshold).toBe(5);
    expect((await send('PUT', path, { ...input, threshold: 7 })).status).toBe(200);
    expect((await send('DELETE', path, undefined, second)).status).toBe(412);
    expect((await send('DELETE', path, undefined, '*')).status).toBe(200);
  });

  it('are listed by id with their total', async () => {
    await created(PATH, await createInput());
    await created(PATH, await createInput());
    const { json, headers } = await call('GET', `${PATH}?limit=1&offset=1`);
    expect(json.data).toHaveLength(1);
    expect(json.meta).toEqual({ total: Number(headers.get('x-total-count')), limit: 1, offset: 1 });
    expect((await call('GET', PATH, undefined, globex.writer)).json.data).toEqual([]);
  });

  it('are the same with the credentials and the envelope of the management interface', async () => {
    const body = await createInput();
    const key = acme.admin;
    const made = await server.call({ method: 'POST', path: `${MANAGED}/alerts`, key, body });
    expect(made.json).toMatchObject({ status: 200, result: { threshold: 100 } });
    const path = `${MANAGED}/alerts/${made.json.result.id}`;
    expect((await server.call({ path, key })).json.result).toMatchObject(body);
    const put = await server.call({ method: 'PUT', path, key, body: { ...body, interval: '15m' } });
    expect(put.json.result.interval).toBe('15m');
    expect((await server.call({ method: 'DELETE', path, key })).status).toBe(200);
    expect((await server.call({ path, key })).status).toBe(404);
  });

  it('set the offset to 0 with a start, and clear it with null', async () => {
    const input = await createInput({ interval: '1h', scheduleStartAt: undefined, scheduleOffsetMinutes: 15 });
    const { id, scheduleOffsetMinutes } = await created(PATH, input);
    expect(scheduleOffsetMinutes).toBe(15);
    const { scheduleOffsetMinutes: _, ...rest } = input as Json;
    const put = async (more: object) => (await call('PUT', `${PATH}/${id}`, { ...rest, ...more })).json.data;
    expect(await put({})).toMatchObject({ scheduleOffsetMinutes: 15, scheduleStartAt: null });
    const scheduleStartAt = inSeconds(-60);
    expect(await put({ scheduleStartAt })).toMatchObject({ scheduleOffsetMinutes: 0, scheduleStartAt });
    expect(await put({})).toMatchObject({ scheduleOffsetMinutes: 0, scheduleStartAt });
    expect(await put({ scheduleStartAt: null })).toMatchObject({ scheduleOffsetMinutes: 0, scheduleStartAt: null });
  });

  it.each<[string, object]>([
    ['Saved search not found', { savedSearchId: 'f'.repeat(24) }],
    ['Invalid saved search ID', { savedSearchId: 'a b' }],
    ['savedSearchId: The value is required', { savedSearchId: null }],
    ['Dashboard not found', { source: 'tile', dashboardId: 'f'.repeat(24), tileId: 'one' }],
    ['Tile not found', { source: 'tile', dashboardId: acme.dashboard, tileId: 'none' }],
    ['Dashboard not found', { source: 'tile', dashboardId: globex.dashboard, tileId: 'one' }],
    ['Webhook not found', { channel: { type: 'webhook', webhookId: 'f'.repeat(24) } }],
    ['At least one notification channel is required', { channel: null }],
    ['thresholdMax: The value is required for between', { thresholdType: 'between' }],
    ['thresholdMax: The value must not be less', { thresholdType: 'between', thresholdMax: 1 }],
    ['scheduleOffsetMinutes: The value must be less', { scheduleOffsetMinutes: 5 }],
    ['scheduleStartAt', { scheduleStartAt: '1990-01-01T00:00:00Z' }],
    ['quietHours.timezone', { quietHours: { timezone: 'Mars/Base', ranges: [{ start: '22:00', end: '07:00' }] } }],
    ['runbookUrl', { runbookUrl: 'javascript:alert(1)' }],
    ['groupBy', { groupBy: 'NoSuchColumn' }],
    ['name', { name: '{{#each x}}' }],
    ['interval', { interval: '2m' }],
  ])('rejects with %s', async (message, more) => {
    const { status, text } = await call('POST', PATH, await createInput(more));
    expect([status, text]).toEqual([400, expect.stringContaining(message)]);
  });

  it('are deleted with their saved search, and keep their channel from being deleted', async () => {
    const input = await createInput();
    const { id } = await created(PATH, input);
    const { webhookId } = input.channel;
    expect((await call('DELETE', `/api/v2/webhooks/${webhookId}`)).status).toBe(409);
    expect((await call('DELETE', `/api/v2/saved-searches/${input.savedSearchId}`)).status).toBe(200);
    expect((await call('GET', `${PATH}/${id}`)).status).toBe(404);
    expect((await call('DELETE', `/api/v2/webhooks/${webhookId}`)).status).toBe(200);
  });

  it('can be silenced with a reason, and changes are in the audit log', async () => {
    const { id } = await created(PATH, await createInput());
    const until = inSeconds(3600);
    const silenced = await call('POST', `${PATH}/${id}/silence`, { until, reason: 'maintenance' });
    expect(silenced.json.data.silenced).toMatchObject({ until, reason: 'maintenance', by: expect.any(String) });
    expect((await call('DELETE', `${PATH}/${id}/silence`)).json.data.silenced).toBeUndefined();
    expect((await call('POST', `${PATH}/${id}/silence`, { until: '2020-01-01T00:00:00Z' })).status).toBe(400);
    expect((await call('POST', `${PATH}/${id}/acknowledge`)).status).toBe(409);
    const activities = await server.call({ path: `/v1/organizations/${acme.id}/activities`, key: acme.admin });
    const types = activities.json.result.map(({ type }: Json) => type);
    expect(types.filter((type: string) => type === 'alert_silence')).toHaveLength(2);
  });
});
