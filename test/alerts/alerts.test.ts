import { expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { HEX_ID } from '../support/dashboards.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

const PATH = '/api/v2/alerts';
const MANAGED = `/v1/organizations/${acme.id}/services/${acme.primary}/clickstack`;

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

  it('are changed and deleted with If-Match only if they are as they were read', async () => {
    const input = await createInput();
    const create = await call('POST', PATH, input);
    const path = `${PATH}/${create.json.data.id}`;
    const first = create.headers.get('etag') ?? '';
    expect(first).toMatch(/^W\/".+"$/);
    const change = (method: string, ifMatch: string, body?: object) =>
      server.call({ method, path, token: acme.writer, headers: { 'if-match': ifMatch }, ...(body && { body }) });
    expect((await call('GET', path)).headers.get('etag')).toBe(first);
    const changed = await change('PUT', first, { ...input, threshold: 5 });
    expect(changed.status, changed.text).toBe(200);
    const stale = await change('PUT', first, { ...input, threshold: 6 });
    expect([stale.status, stale.json.message]).toEqual([412, expect.stringContaining('If-Match')]);
    expect((await change('DELETE', first)).status).toBe(412);
    expect((await call('GET', path)).json.data.threshold).toBe(5);
    expect((await change('DELETE', changed.headers.get('etag') ?? '')).status).toBe(200);
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
    const scheduleStartAt = new Date(Date.now() - 60_000).toISOString();
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
    const until = new Date(Date.now() + 3_600_000).toISOString();
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
