import { expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { HEX_ID } from '../support/dashboards.ts';
import { acme, globex } from '../support/fleet.ts';
import { useReceiver } from '../support/receiver.ts';
import { openStored } from '../support/secrets-key.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';

const PATH = '/api/v2/webhooks';
const CLICKSTACK = `/v1/organizations/${acme.id}/services/${acme.primary}/clickstack/webhooks`;
const GENERIC = {
  service: 'generic',
  name: 'hook',
  url: 'https://hooks.example.com/T0/secret-part?token=secret-query',
};
const SLACK = { service: 'slack', name: 'alerts-slack', url: 'https://hooks.slack.com/services/T0/B0/secret-part' };

onEachStore('webhooks', (store) => {
  const server = useServer(store);
  const call = (method: string, path: string, body?: object, token = acme.writer) =>
    server.call({ method, path, token, ...(body && { body }) });
  let count = 0;
  const create = async (body: object = {}): Promise<Json> => {
    const { status, json, text } = await call('POST', PATH, { ...GENERIC, name: `hook ${count++}`, ...body });
    expect(status, text).toBe(200);
    return json.data;
  };
  const find = async (id: string, token = acme.writer): Promise<Json> =>
    (await call('GET', PATH, undefined, token)).json.data.find((webhook: Json) => webhook.id === id);
  const activities = async (): Promise<Json[]> =>
    (await server.call({ path: `/v1/organizations/${acme.id}/activities?limit=1000`, key: acme.admin })).json.result;

  it('are created, listed, replaced and deleted, and each change is in the audit log without secrets', async () => {
    const secrets = { headers: { Authorization: 'secret-header' }, queryParams: { key: 'secret-parameter' } };
    const created = await create({ ...secrets, description: '', body: '{"a":"{{title}}"}' });
    const { signingSecret, ...record } = created;
    expect(signingSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(record).toEqual({
      ...GENERIC,
      id: expect.stringMatching(HEX_ID),
      name: record.name,
      description: '',
      body: '{"a":"{{title}}"}',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(await find(record.id)).toEqual(record);
    const path = `${PATH}/${record.id}`;
    const renamed = await call('PUT', path, { ...GENERIC, name: 'renamed' });
    expect(renamed.json.data).toEqual({
      ...GENERIC,
      id: record.id,
      name: 'renamed',
      createdAt: record.createdAt,
      updatedAt: expect.any(String),
    });
    const rotated = (await call('POST', `${path}/rotate-secret`)).json.data;
    expect(rotated).toMatchObject({ id: record.id, name: 'renamed', signingSecret: expect.stringMatching(/^whsec_/) });
    expect(rotated.signingSecret).not.toBe(signingSecret);
    expect(await find(record.id)).not.toHaveProperty('signingSecret');
    const test = await call('POST', `${path}/test`);
    expect([test.status, test.json.data.isDelivered]).toEqual([200, false]);
    expect((await call('DELETE', path)).json).toEqual({});
    for (const method of ['PUT', 'DELETE']) {
      const gone = await call(method, path, method === 'PUT' ? GENERIC : undefined);
      expect([gone.status, gone.json.message]).toEqual([404, 'Webhook not found']);
    }
    const own = (await activities()).filter(({ resourceId }) => resourceId === record.id);
    expect(own.map(({ activityType }) => activityType)).toEqual([
      'channel_delete',
      'channel_test',
      'channel_update',
      'channel_update',
      'channel_create',
    ]);
    expect(own[4]?.after).toMatchObject({ url: 'https://hooks.example.com', headers: ['Authorization'] });
    for (const secret of ['secret-', signingSecret, rotated.signingSecret])
      expect(JSON.stringify(own)).not.toContain(secret);
  });

  it('that are not signed have no secret to replace, and readers cannot replace one', async () => {
    const { id } = await create({ ...SLACK, name: 'chat' });
    const path = `${PATH}/${id}/rotate-secret`;
    const { status, json } = await call('POST', path);
    expect([status, json.message]).toEqual([409, 'Requests to a webhook of the service slack are not signed']);
    expect((await call('POST', path, undefined, acme.token)).status).toBe(403);
  });

  it('have no read by id, and that is not a 404', async () => {
    const { id } = await create();
    expect((await call('GET', `${PATH}/${id}`)).status).toBe(405);
    expect((await server.call({ path: `${CLICKSTACK}/${id}`, key: acme.admin })).status).toBe(405);
  });

  it('are listed in pages with the total, ordered by id', async () => {
    for (let i = 0; i < 3; i++) await create();
    const all = await call('GET', PATH);
    const { total } = all.json.meta;
    expect(all.json.meta).toEqual({ total: all.json.data.length, limit: 1000, offset: 0 });
    expect(all.headers.get('x-total-count')).toBe(String(total));
    expect(all.headers.get('cache-control')).toBe('no-store');
    const ids = all.json.data.map(({ id }: Json) => id);
    expect(ids).toEqual([...ids].sort());
    const page = await call('GET', `${PATH}?limit=2&offset=1`);
    expect(page.json.data).toEqual(all.json.data.slice(1, 3));
    expect((await call('GET', `${PATH}?limit=200&offset=${total}`)).json.data).toEqual([]);
    const managed = await server.call({ path: `${CLICKSTACK}?limit=200&offset=0`, key: acme.admin });
    expect(managed.json.result).toEqual(all.json.data);
  });

  it('PUT clears what can be read and keeps secrets, unless the address or service changes', async () => {
    const { id } = await create({ headers: { 'X-Secret': 'secret-1' }, description: 'text', body: 'b' });
    const put = async (body: object) =>
      (await call('PUT', `${PATH}/${id}`, { ...GENERIC, name: 'put', ...body })).json.data;
    const hasSecret = async () => {
      const [row] = await runSql(server, `SELECT document FROM channels WHERE id = '${id}'`);
      return openStored(['channels', 'document', acme.id, id], String(row?.document)).includes('secret-1');
    };
    const cleared = await put({});
    expect([cleared.description, cleared.body, cleared.signingSecret]).toEqual([undefined, undefined, undefined]);
    expect(await hasSecret()).toBe(true);
    await put({ url: 'https://other.example.com/' });
    expect(await hasSecret()).toBe(false);
    await put({ headers: { 'X-Secret': 'secret-1' } });
    await put({ headers: {} });
    expect(await hasSecret()).toBe(false);
    const slack = await call('PUT', `${PATH}/${id}`, { ...SLACK, name: 'put' });
    expect(slack.json.data).toMatchObject({ service: 'slack', url: SLACK.url });
    expect((await put({})).signingSecret).toMatch(/^whsec_/);
  });

  it('have a time that their receiver may take, except mail', async () => {
    const { id, timeoutSeconds } = await create({ timeoutSeconds: 30 });
    expect(timeoutSeconds).toBe(30);
    expect(await find(id)).toMatchObject({ timeoutSeconds: 30 });
    for (const wrong of [0, 31, 1.5])
      expect((await call('POST', PATH, { ...GENERIC, name: 'wrong', timeoutSeconds: wrong })).status).toBe(400);
    const mail = { service: 'email', name: 'mail', to: ['a@example.com'], timeoutSeconds: 10 };
    expect((await call('POST', PATH, mail)).text).toContain('A webhook of the service email has no timeoutSeconds');
    expect((await call('PUT', `${PATH}/${id}`, { ...GENERIC, name: 'timed' })).status).toBe(200);
    expect(await find(id)).not.toHaveProperty('timeoutSeconds');
  });

  it('have names that are unique for each service', async () => {
    const { name, id } = await create();
    const again = await call('POST', PATH, { ...GENERIC, name });
    expect([again.status, again.json.message]).toEqual([400, 'A webhook with this service and name already exists']);
    expect((await call('POST', PATH, { ...SLACK, name })).status).toBe(200);
    const other = await create();
    expect((await call('PUT', `${PATH}/${other.id}`, { ...GENERIC, name })).status).toBe(400);
    expect((await call('PUT', `${PATH}/${id}`, { ...GENERIC, name })).status).toBe(200);
    expect((await call('POST', PATH, { ...GENERIC, name }, globex.writer)).status).toBe(200);
  });

  it.each<[object, string]>([
    [{ service: 'smtp' }, 'service'],
    [{ name: ' ' }, 'must not be blank'],
    [{ name: 'x'.repeat(1025) }, 'at most 1024'],
    [{ url: undefined }, 'url: The value is required'],
    [{ url: 'ftp://example.com' }, 'http or https URL'],
    [{ url: 'http://127.0.0.1/' }, 'The address is private'],
    [{ url: 'https://u:p@example.com/' }, 'user name or password'],
    [{ url: `https://example.com/${'x'.repeat(2048)}` }, 'at most 2048'],
    [{ description: 'x'.repeat(2049) }, 'at most 2048'],
    [{ body: 'x'.repeat(16_385) }, 'at most 16384'],
    [{ body: 'a\n {{#each x}}' }, 'The template is not valid on line 2'],
    [{ body: '{{> partial}}' }, 'PartialStatement is not supported'],
    [{ headers: { 'a b': 'x' } }, 'must be a valid name of an HTTP header'],
    [{ headers: { Host: 'x' } }, 'The server sets this header itself'],
    [{ headers: { 'Webhook-Signature': 'x' } }, 'The server sets this header itself'],
    [{ headers: { a: 'x\r\ny: z' } }, 'no control characters'],
    [{ headers: { a: 'x'.repeat(4097) } }, 'at most 4096'],
    [{ headers: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`a${i}`, 'x'])) }, '100'],
    [{ queryParams: { a: 'x\u0007' } }, 'no control characters'],
    [{ ...SLACK, body: 'x' }, 'A webhook of the service slack has no body'],
    [{ ...SLACK, headers: {} }, 'A webhook of the service slack has no headers'],
    [{ ...SLACK, url: 'https://slack.com.evil.example/' }, 'The host must be slack.com'],
    [{ service: 'pagerduty', url: undefined }, 'routingKey: The value is required'],
    [{ service: 'email', url: undefined }, 'to: The value is required'],
    [{ service: 'email', url: undefined, to: ['a@example.com'] }, 'set --smtp-url and --smtp-from'],
    [{ service: 'generic', to: ['a@example.com'] }, 'A webhook of the service generic has no to'],
  ])('reject %j', async (body, text) => {
    const before = (await call('GET', PATH)).json.meta.total;
    const { status, text: response } = await call('POST', PATH, { ...GENERIC, name: 'rejected', ...body });
    expect(status, response).toBe(400);
    expect(response).toContain(text);
    expect((await call('GET', PATH)).json.meta.total).toBe(before);
  });

  it('need a token that writes; others see only the origin of the address', async () => {
    const { id } = await create();
    const shown = await call('GET', PATH, undefined, acme.token);
    expect(shown.json.data.find((webhook: Json) => webhook.id === id).url).toBe('https://hooks.example.com');
    expect(shown.text).not.toContain('secret');
    const byDeveloper = await server.call({ path: CLICKSTACK, key: acme.developer });
    expect(byDeveloper.text).not.toContain('secret');
    for (const [method, path] of [
      ['POST', PATH],
      ['PUT', `${PATH}/${id}`],
      ['DELETE', `${PATH}/${id}`],
      ['POST', `${PATH}/${id}/test`],
    ] as const)
      expect((await call(method, path, method === 'DELETE' ? undefined : GENERIC, acme.token)).status).toBe(403);
  });

  it('are the same under /v1 with a key', async () => {
    const request = (method: string, path: string, body?: object) =>
      server.call({ method, path, key: acme.admin, ...(body && { body }) });
    const created = await request('POST', CLICKSTACK, { ...SLACK, name: 'managed' });
    expect([created.status, created.json.status]).toEqual([200, 200]);
    const { id } = created.json.result;
    expect(await find(id)).toEqual(created.json.result);
    const changed = await request('PUT', `${CLICKSTACK}/${id}`, { ...SLACK, name: 'managed', description: 'd' });
    expect(changed.json.result).toMatchObject({ id, description: 'd', url: SLACK.url });
    const same = await request('POST', CLICKSTACK, { ...SLACK, name: 'managed' });
    expect([same.status, same.json.error]).toEqual([
      400,
      'BAD_REQUEST: A webhook with this service and name already exists',
    ]);
    expect((await request('DELETE', `${CLICKSTACK}/${id}`)).json.status).toBe(200);
    expect((await request('DELETE', `${CLICKSTACK}/${id}`)).json.error).toBe('NOT_FOUND: Webhook not found');
  });

  it('are limited to 100 per organization', async () => {
    const many = (length: number) =>
      Promise.all(
        Array.from({ length }, (_, index) =>
          call('POST', PATH, { ...GENERIC, name: `m${count++}.${index}` }, globex.writer),
        ),
      );
    const { total } = (await call('GET', PATH, undefined, globex.writer)).json.meta;
    for (let left = 99 - total; left > 0; left -= 20)
      expect((await many(Math.min(left, 20))).filter(({ status }) => status !== 200)).toEqual([]);
    const statuses = (await many(3)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 409, 409]);
  });
});

onEachStore('webhooks that may have private addresses', (store) => {
  const server = useServer(store, { args: ['--webhook-allow-private', 'yes'] });
  const receiver = useReceiver();
  const call = (method: string, path: string, body?: object) =>
    server.call({ method, path, token: acme.writer, ...(body && { body }) });

  it('can be tested, and show what the receiver answered', async () => {
    const { json } = await call('POST', PATH, { service: 'slack', name: 'chat', url: receiver.url });
    const path = `${PATH}/${json.data.id}/test`;
    receiver.status = 200;
    expect((await call('POST', path)).json.data).toEqual({
      isDelivered: true,
      status: 200,
      answer: '',
      tookMs: expect.any(Number),
    });
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ text: 'Test of chat' });
    receiver.status = 500;
    expect((await call('POST', path)).json.data).toMatchObject({
      isDelivered: false,
      status: 500,
      error: '127.0.0.1 responded with status 500',
    });
    // Tests are not kept.
    expect((await call('GET', '/api/v2/notifications')).json).toEqual({ data: [], nextCursor: null });
  });

  it('cannot be deleted while a budget uses them', async () => {
    const { id } = (await call('POST', PATH, { service: 'teams', name: 'used', url: receiver.url })).json.data;
    const budgets = `/v1/organizations/${acme.id}/budgets`;
    const post = (webhookId: string) =>
      server.call({
        method: 'POST',
        path: budgets,
        key: acme.admin,
        body: { name: 'Team', monthlyCHC: 5, channels: [{ type: 'webhook', webhookId }] },
      });
    const unknown = await post('f'.repeat(24));
    expect([unknown.status, unknown.json.error]).toEqual([
      400,
      `BAD_REQUEST: request body.channels[0].webhookId: Webhook not found <string:${'f'.repeat(24)}>`,
    ]);
    const { result } = (await post(id)).json;
    expect(result.channels).toEqual([{ type: 'webhook', webhookId: id }]);
    const refused = await call('DELETE', `${PATH}/${id}`);
    expect([refused.status, refused.json.message]).toEqual([
      409,
      'The webhook is in use: budget Team; change these first',
    ]);
    const path = `${budgets}/${result.id}`;
    const changed = await server.call({ method: 'PATCH', path, key: acme.admin, body: { channels: [] } });
    expect(changed.json.result).not.toHaveProperty('channels');
    expect((await call('DELETE', `${PATH}/${id}`)).status).toBe(200);
  });
});
