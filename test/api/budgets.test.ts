import { expect, it } from 'vitest';
import { acme, fleet, globex } from '../support/fleet.ts';
import { useReceiver } from '../support/receiver.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { signIn } from '../support/sessions.ts';
import { until } from '../support/until.ts';

const today = new Date().toISOString().slice(0, 10);
const spending = structuredClone(fleet) as { organizations: { usageCosts?: object[] }[] };
spending.organizations[0]?.usageCosts?.push({
  date: today,
  entityType: 'service',
  entityId: acme.primary,
  metrics: { computeCHC: 80 },
});

onEachStore('budgets over HTTP', (store) => {
  const server = useServer(store, {
    fleet: spending,
    args: ['--webhook-allow-private', 'yes'],
    inProcess: false,
  });
  const receiver = useReceiver();
  const base = `/v1/organizations/${acme.id}/budgets`;
  const call = (method: string, path: string, body?: object, key = acme.admin) =>
    server.call({ method, path, key, ...(body ? { body } : {}) });
  const create = async (body: object) => (await call('POST', base, body)).json.result;

  it('can be created, listed, read, updated and deleted, and each change is in the audit log', async () => {
    const budget = await create({ name: 'Team', monthlyCHC: 1234.5 });
    expect(budget).toMatchObject({
      name: 'Team',
      monthlyCHC: 1234.5,
      thresholds: [50, 75, 90, 100, 'forecast'],
      notices: [],
    });
    expect(budget).not.toHaveProperty('webhook');
    const path = `${base}/${budget.id}`;
    expect(
      (
        await call(
          'GET',
          path.toUpperCase().replace('/V1/ORGANIZATIONS', '/v1/organizations').replace('/BUDGETS/', '/budgets/'),
        )
      ).json.result,
    ).toEqual(budget);
    expect((await call('GET', base)).json.result).toContainEqual(budget);
    const changed = await call('PATCH', path, { monthlyCHC: 99.000001, thresholds: [10, 'forecast'] });
    expect(changed.json.result).toMatchObject({ name: 'Team', monthlyCHC: 99.000001, thresholds: [10, 'forecast'] });
    expect((await call('PATCH', path, {})).json.result.monthlyCHC).toBe(99.000001);
    expect((await call('DELETE', path)).json).not.toHaveProperty('result');
    expect((await call('GET', path)).json.error).toBe(`NOT_FOUND: budget ${budget.id} does not exist`);
    expect((await call('DELETE', path)).status).toBe(404);
    const activities = (await call('GET', `/v1/organizations/${acme.id}/activities?limit=1000`)).json.result;
    const own = activities.filter(
      ({ resourceId, activityType }: Record<string, string>) =>
        resourceId === budget.id && activityType !== 'budget_threshold',
    );
    expect(
      own.map(({ activityType, before, after }: Record<string, unknown>) => [activityType, before, after]),
    ).toEqual([
      ['budget_delete', expect.objectContaining({ monthlyCHC: 99.000001 }), undefined],
      [
        'budget_update',
        { monthlyCHC: 1234.5, thresholds: [50, 75, 90, 100, 'forecast'] },
        { monthlyCHC: 99.000001, thresholds: [10, 'forecast'] },
      ],
      ['budget_create', undefined, expect.objectContaining({ name: 'Team', webhook: null })],
    ]);
  });

  it('K1: show a generated secret once, and never a given one', async () => {
    const { status, headers, json } = await call('POST', base, {
      monthlyCHC: 1_000_000,
      webhook: { url: receiver.url },
    });
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    const { id, webhook } = json.result;
    expect(webhook.secret).toMatch(/^phw_[0-9A-Za-z]{49}$/);
    const given = await create({
      monthlyCHC: 1_000_000,
      webhook: { url: receiver.url, secret: 'given-by-the-caller' },
    });
    expect(given.webhook).toEqual({ url: receiver.url });
    const updated = await call('PATCH', `${base}/${id}`, { webhook: { url: 'https://example.com/other' } });
    expect(updated.json.result.webhook).toEqual({ url: 'https://example.com/other' });
    const rotated = await call('PATCH', `${base}/${id}`, {
      webhook: { url: receiver.url, secret: 'another-given-secret' },
    });
    expect(rotated.json.result.webhook).toEqual({ url: receiver.url });
    expect((await call('PATCH', `${base}/${id}`, { webhook: null })).json.result).not.toHaveProperty('webhook');
    const shown = [
      await call('GET', base),
      await call('GET', `${base}/${id}`),
      await call('GET', `/v1/organizations/${acme.id}/activities?limit=1000`),
    ].map(({ text }) => text);
    for (const text of [...shown, server.log()])
      for (const secret of [webhook.secret, 'given-by-the-caller', 'another-given-secret'])
        expect(text).not.toContain(secret);
  });

  it('send alerts soon after they are created, and list them', async () => {
    receiver.received.length = 0;
    const budget = await create({
      name: 'small',
      monthlyCHC: 100,
      thresholds: [50, 75, 90],
      webhook: { url: receiver.url },
    });
    const alerts = await until(
      async () => (await call('GET', `${base}/${budget.id}`)).json.result.notices,
      (notices) =>
        notices.length === 2 && notices.every(({ delivery }: { delivery: string }) => delivery === 'delivered'),
      'the alerts are not delivered',
    );
    expect(alerts.map(({ threshold, month }: Record<string, unknown>) => [threshold, month])).toEqual([
      [50, today.slice(0, 7)],
      [75, today.slice(0, 7)],
    ]);
    const bodies = receiver.received
      .map(({ body }) => JSON.parse(body))
      .filter(({ budgetId }) => budgetId === budget.id);
    expect(bodies.map(({ threshold, spentCHC }) => [threshold, spentCHC]).sort()).toEqual([
      [50, 80],
      [75, 80],
    ]);
    const activities = (await call('GET', `/v1/organizations/${acme.id}/activities?limit=1000`)).json.result;
    const mine = activities.filter(
      ({ resourceId, activityType }: Record<string, string>) =>
        resourceId === budget.id && activityType === 'budget_threshold',
    );
    expect(
      mine.map(({ actorType, actorId, after }: Record<string, unknown>) => [
        actorType,
        actorId,
        (after as { threshold: number }).threshold,
      ]),
    ).toEqual([
      ['system', 'budgets', 75],
      ['system', 'budgets', 50],
    ]);
  });

  it.each([
    [{}, 'request body.monthlyCHC: The value is required <missing>'],
    [
      { monthlyCHC: 0 },
      'request body.monthlyCHC: The value must be greater than 0 and at most 1000000000, with at most 6 decimals <number:0>',
    ],
    [
      { monthlyCHC: -5 },
      'request body.monthlyCHC: The value must be greater than 0 and at most 1000000000, with at most 6 decimals <number:-5>',
    ],
    [
      { monthlyCHC: 0.1234567 },
      'request body.monthlyCHC: The value must be greater than 0 and at most 1000000000, with at most 6 decimals <number:0.1234567>',
    ],
    [{ monthlyCHC: '5' }, 'request body.monthlyCHC: The value must be a number <string:5>'],
    [{ monthlyCHC: 1, name: '' }, 'request body.name: The value must not be empty <string:>'],
    [{ monthlyCHC: 1, thresholds: [] }, 'request body.thresholds: The list must have at least 1 element <array>'],
    [{ monthlyCHC: 1, thresholds: [50, 50] }, 'request body.thresholds: The list must not repeat an element <array>'],
    [
      { monthlyCHC: 1, thresholds: [0] },
      'request body.thresholds[0]: The value must be an integer percentage from 1 to 1000, or forecast <number:0>',
    ],
    [
      { monthlyCHC: 1, thresholds: ['soon'] },
      'request body.thresholds[0]: The value must be an integer percentage from 1 to 1000, or forecast <string:soon>',
    ],
    [{ monthlyCHC: 1, webhook: {} }, 'request body.webhook.url: The value is required <missing>'],
    [
      { monthlyCHC: 1, webhook: { url: 'ftp://x/' } },
      'request body.webhook.url: The value must be an http or https URL <string>',
    ],
    [
      { monthlyCHC: 1, webhook: { url: 'https://a:b@example.com/' } },
      'request body.webhook.url: The value must not contain a user name or password <string>',
    ],
    [
      { monthlyCHC: 1, webhook: { url: 'http://169.254.169.254/' } },
      'request body.webhook.url: The address is link-local, reserved or a metadata service, which is never allowed <string>',
    ],
    [
      { monthlyCHC: 1, webhook: { url: 'https://example.com/', secret: 'short' } },
      'request body.webhook.secret: The value must have at least 16 characters <string>',
    ],
  ])('reject %j', async (body, error) => {
    const { status, json } = await call('POST', base, body);
    expect([status, json.error]).toEqual([400, `BAD_REQUEST: ${error}`]);
  });

  it('R1: keys without the role admin see only the origin of the webhook URL', async () => {
    const url = 'https://hooks.example.com:8443/T024/secret-part?token=secret-query#secret';
    const { id, webhook } = await create({ monthlyCHC: 5, webhook: { url } });
    expect(webhook.url).toBe(url);
    const { headers } = await signIn(server, acme.developer);
    const readers = [{ key: acme.developer }, { headers }];
    for (const reader of readers) {
      const [one, all] = [
        await server.call({ path: `${base}/${id}`, ...reader }),
        await server.call({ path: base, ...reader }),
      ];
      expect(one.json.result.webhook).toEqual({ url: 'https://hooks.example.com:8443' });
      for (const { text } of [one, all]) expect(text).not.toContain('secret');
    }
    expect((await call('GET', `${base}/${id}`)).json.result.webhook).toEqual({ url });
    const activities = await server.call({ path: `/v1/organizations/${acme.id}/activities`, key: acme.developer });
    expect(activities.text).toContain('https://hooks.example.com:8443');
    expect(activities.text).not.toContain('secret-part');
  });

  it('R1, M4: can be read by developers, and only within their organization', async () => {
    const { id } = await create({ monthlyCHC: 1_000_000 });
    expect((await call('GET', `${base}/${id}`, undefined, acme.developer)).status).toBe(200);
    expect((await call('PATCH', `${base}/${id}`, { name: 'x' }, acme.developer)).status).toBe(403);
    expect((await call('GET', base, undefined, acme.query)).status).toBe(403);
    const foreign = `/v1/organizations/${globex.id}/budgets`;
    expect((await server.call({ path: `${foreign}/${id}`, key: globex.admin })).status).toBe(404);
    expect((await server.call({ path: foreign, key: globex.admin })).json.result).toEqual([]);
    expect((await call('GET', `${base}/not-a-uuid`)).json.error).toBe(
      'BAD_REQUEST: path.budgetId: The value must be a valid uuid <string:not-a-uuid>',
    );
  });

  it('are limited to 100 per organization', async () => {
    const path = `/v1/organizations/${globex.id}/budgets`;
    const createMany = (count: number) =>
      Promise.all(
        Array.from({ length: count }, () =>
          server.call({ method: 'POST', path, key: globex.admin, body: { monthlyCHC: 1_000_000 } }),
        ),
      );
    for (let created = 0; created < 90; created += 10)
      expect((await createMany(10)).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    const responses = await createMany(11);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(responses.find(({ status }) => status === 409)?.json.error).toBe(
      'CONFLICT: The organization has reached its limit of 100 budgets',
    );
  });
});

onEachStore('budgets of a server that does not allow private addresses', (store) => {
  const server = useServer(store);

  it('reject a webhook with a private address', async () => {
    const { status, json } = await server.call({
      method: 'POST',
      path: `/v1/organizations/${acme.id}/budgets`,
      key: acme.admin,
      body: { monthlyCHC: 1, webhook: { url: 'http://127.0.0.1:1/' } },
    });
    expect([status, json.error]).toEqual([
      400,
      'BAD_REQUEST: request body.webhook.url: The address is private; allow private addresses with --webhook-allow-private yes <string>',
    ]);
  });
});
