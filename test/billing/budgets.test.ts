import { createHmac, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { toBudgetRecord } from '../../src/management/billing/budgets/schema.ts';
import { findUrlViolation } from '../../src/platform/webhooks/webhook.ts';
import { actor, useBilling } from '../support/billing.ts';
import { useReceiver } from '../support/receiver.ts';
import { onEachStore } from '../support/server.ts';

const SECRET = 'a-secret-of-the-receiver';

onEachStore('budgets', (store) => {
  const billing = useBilling(store);
  const receiver = useReceiver();

  /** Creates an organization with these costs, in CHC per day. */
  async function createOrganization(days: Record<string, number>, id: string = randomUUID()): Promise<string> {
    const usageCosts = Object.entries(days).map(([date, computeCHC]) => ({
      date,
      entityType: 'service' as const,
      entityId: '0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11',
      dataWarehouseId: '3ab15151-9e4d-4e31-b28a-5e906f4dc144',
      metrics: { computeCHC },
    }));
    await billing.domains.fleet.apply({ organizations: [{ id, name: 'Acme', usageCosts }] }, actor);
    receiver.received.length = 0;
    receiver.status = 204;
    return id;
  }

  const createBudget = (id: string, settings: object = {}) =>
    billing.domains.budgets.create(actor, id, {
      monthlyCHC: 100,
      thresholds: [50, 75, 90, 100],
      webhook: { url: receiver.url, secret: SECRET },
      ...settings,
    });
  const received = () =>
    receiver.received.map(({ body }) => JSON.parse(body)).map(({ month, threshold }) => [month, threshold]);
  const activities = async (id: string) =>
    (await billing.domains.audit.list(id, {}, { limit: 100 })).activities.filter(
      ({ type }) => type === 'budget_threshold',
    );

  it('raise one alert per threshold and month, however often they are checked', async () => {
    const id = await createOrganization({ '2026-09-30': 500, '2026-10-01': 50, '2026-10-20': 25.5 });
    await createBudget(id);
    const { budgets } = billing.domains;
    await budgets.check();
    await Promise.all([budgets.check(), billing.restart().budgets.check(), billing.restart().budgets.check()]);
    expect(received()).toEqual(
      expect.arrayContaining([
        ['2026-10', 50],
        ['2026-10', 75],
      ]),
    );
    expect(received()).toHaveLength(2);
    expect((await activities(id)).map(({ actor: who, after }) => [who.type, after])).toEqual([
      ['system', { name: 'Budget', month: '2026-10', threshold: 75, monthlyCHC: 100, spentCHC: 75.5 }],
      ['system', { name: 'Budget', month: '2026-10', threshold: 50, monthlyCHC: 100, spentCHC: 75.5 }],
    ]);
    await createOrganization({ '2026-10-21': 20 }, id);
    billing.clock.set('2026-10-21T12:00:00Z');
    await budgets.check();
    expect(received()).toEqual([['2026-10', 90]]);
    await createOrganization({ '2026-11-01': 51 }, id);
    billing.clock.set('2026-11-01T00:00:01Z');
    await budgets.check();
    expect(received()).toEqual([['2026-11', 50]]);
  });

  it('sign deliveries and assign an id to each', async () => {
    const id = await createOrganization({ '2026-10-20': 99 });
    const { budget: created } = await createBudget(id, { name: 'Team A', thresholds: [90] });
    await billing.domains.budgets.check();
    const [{ path, headers, body } = { path: '', headers: {}, body: '' }] = receiver.received;
    expect(path).toBe('/hook?token=in-the-address');
    expect(headers['content-type']).toBe('application/json');
    const seconds = Date.parse('2026-10-20T12:00:00Z') / 1000;
    const expected = createHmac('sha256', SECRET).update(`${seconds}.${body}`).digest('hex');
    expect(headers['x-pilothouse-signature']).toBe(`t=${seconds},v1=${expected}`);
    expect(JSON.parse(body)).toEqual({
      id: headers['x-pilothouse-delivery'],
      type: 'budget_threshold',
      createdAt: '2026-10-20T12:00:00Z',
      organizationId: id,
      budgetId: created.id,
      name: 'Team A',
      month: '2026-10',
      threshold: 90,
      monthlyCHC: 100,
      spentCHC: 99,
    });
  });

  it('raise an alert when the forecast reaches the budget, before the costs do', async () => {
    const daily = Object.fromEntries(
      Array.from({ length: 60 }, (_, back) => [
        new Date(Date.parse('2026-10-19T00:00:00Z') - back * 86_400_000).toISOString().slice(0, 10),
        4,
      ]),
    );
    const id = await createOrganization(daily);
    await createBudget(id, { thresholds: [100, 'forecast'], monthlyCHC: 124 });
    await createBudget(id, { name: 'larger', thresholds: ['forecast'], monthlyCHC: 125 });
    await billing.domains.budgets.check();
    expect(received()).toEqual([['2026-10', 'forecast']]);
    expect((await activities(id))[0]?.after).toMatchObject({ spentCHC: 76, expectedCHC: 124, threshold: 'forecast' });
  });

  it('retry a delivery with increasing delays until the receiver accepts it', async () => {
    const id = await createOrganization({ '2026-10-20': 60 });
    const { budget: created } = await createBudget(id, { thresholds: [50] });
    receiver.status = 500;
    const { budgets } = billing.domains;
    await budgets.check();
    await budgets.check();
    expect(receiver.received).toHaveLength(1);
    billing.clock.add(9_999);
    await budgets.check();
    expect(receiver.received).toHaveLength(1);
    billing.clock.add(1);
    await budgets.check();
    expect(receiver.received).toHaveLength(2);
    expect((await budgets.get(id, created.id)).alerts).toMatchObject([{ delivery: 'pending', attempts: 2 }]);
    receiver.status = 200;
    billing.clock.add(30_000);
    // Pending deliveries survive a restart.
    const other = billing.restart();
    await other.budgets.check();
    billing.clock.add(3_600_000);
    await other.budgets.check();
    expect(receiver.received).toHaveLength(3);
    expect(
      new Set(receiver.received.map(({ body, headers }) => `${headers['x-pilothouse-delivery']} ${body}`)).size,
    ).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-pilothouse-signature'])).size).toBe(3);
    expect((await budgets.get(id, created.id)).alerts).toMatchObject([{ delivery: 'delivered', attempts: 3 }]);
  });

  it('show a pending alert with its attempts, the reason and the next attempt, never as sent', async () => {
    const id = await createOrganization({ '2026-10-20': 60 });
    const { budget: created } = await createBudget(id, { thresholds: [50] });
    const { budgets } = billing.domains;
    const notices = async () => toBudgetRecord(await budgets.get(id, created.id)).notices;
    receiver.status = 503;
    for (const seconds of [0, 10, 30, 60, 300, 900]) {
      billing.clock.add(seconds * 1000);
      await budgets.check();
    }
    expect(await notices()).toEqual([
      {
        month: '2026-10',
        threshold: 50,
        createdAt: '2026-10-20T12:00:00Z',
        delivery: 'pending',
        attempts: 6,
        lastAttemptAt: '2026-10-20T12:21:40Z',
        lastError: '127.0.0.1 responded with status 503',
        nextAttemptAt: '2026-10-20T13:21:40Z',
      },
    ]);
    receiver.status = 200;
    billing.clock.add(3_600_000);
    await budgets.check();
    const [delivered] = await notices();
    expect(delivered).toMatchObject({ delivery: 'delivered', attempts: 7, lastAttemptAt: '2026-10-20T13:21:40Z' });
    expect(delivered).not.toHaveProperty('lastError');
    expect(delivered).not.toHaveProperty('nextAttemptAt');
  });

  it('name the reason when nothing listens at the address', async () => {
    const id = await createOrganization({ '2026-10-20': 60 });
    const url = 'http://localhost:1/hook?token=in-the-address';
    const { budget: created } = await createBudget(id, { thresholds: [50], webhook: { url, secret: SECRET } });
    const { budgets } = billing.domains;
    await budgets.check();
    const [notice] = toBudgetRecord(await budgets.get(id, created.id)).notices;
    expect(notice?.lastError).toMatch(/ECONNREFUSED/);
    expect(notice?.lastError).not.toContain('in-the-address');
  });

  it('give up after a day, and do not follow redirects', async () => {
    const id = await createOrganization({ '2026-10-20': 60 });
    const { budget: created } = await createBudget(id, { thresholds: [50] });
    receiver.status = 302;
    const { budgets } = billing.domains;
    for (let hour = 0; hour < 12; hour++) {
      await budgets.check();
      billing.clock.add(12 * 3_600_000);
    }
    expect(receiver.received.map(({ path }) => path)).toEqual(
      Array.from({ length: 10 }, () => '/hook?token=in-the-address'),
    );
    expect((await budgets.get(id, created.id)).alerts).toMatchObject([
      { delivery: 'failed', attempts: 10, lastError: '127.0.0.1 responded with status 302', nextAttemptAt: undefined },
    ]);
    expect(billing.log.filter((line) => line.includes('"final":true'))).toHaveLength(1);
  });

  it('keep the secret out of logs and activities', async () => {
    const id = await createOrganization({ '2026-10-20': 60 });
    receiver.status = 500;
    await createBudget(id);
    await billing.domains.budgets.check();
    const activityText = JSON.stringify(await billing.domains.audit.list(id, {}, { limit: 100 }));
    expect(billing.log.join()).toContain('responded with status 500');
    for (const text of [billing.log.join(), activityText]) {
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain('in-the-address');
    }
    expect(activityText).toContain('"webhook":"http://127.0.0.1:');
  });

  it('do not call private addresses unless allowed, not even through a host name', async () => {
    const id = await createOrganization({ '2026-10-20': 60 });
    const named = receiver.url.replace('127.0.0.1', 'localhost');
    await createBudget(id, { thresholds: [50], webhook: { url: named, secret: SECRET } });
    const strict = billing.restart({ webhookAllowPrivate: false });
    await strict.budgets.check();
    expect(receiver.received).toHaveLength(0);
    expect(billing.log.join()).toContain('The address is private');
    await expect(strict.budgets.create(actor, id, { monthlyCHC: 1, webhook: { url: receiver.url } })).rejects.toThrow(
      'webhook.url: The address is private; allow private addresses with --webhook-allow-private yes <string>',
    );
    billing.clock.add(60_000);
    await billing.domains.budgets.check();
    expect(receiver.received).toHaveLength(1);
  });

  it('deliver nothing after they are deleted, and record an activity without a webhook', async () => {
    const id = await createOrganization({ '2026-10-20': 60 });
    const { budget: created } = await createBudget(id, { thresholds: [50] });
    receiver.status = 500;
    const { budgets } = billing.domains;
    await budgets.check();
    await budgets.remove(actor, id, created.id);
    billing.clock.add(3_600_000);
    await budgets.check();
    expect(receiver.received).toHaveLength(1);
    const { budget: withoutWebhook } = await createBudget(id, { thresholds: [50], webhook: undefined });
    await budgets.check();
    expect((await budgets.get(id, withoutWebhook.id)).alerts).toMatchObject([{ threshold: 50, delivery: 'none' }]);
    expect(await activities(id)).toHaveLength(2);
  });

  it('use a changed amount immediately, without repeating alerts', async () => {
    const id = await createOrganization({ '2026-10-20': 60 });
    const { budget: created } = await createBudget(id, { thresholds: [50, 100] });
    const { budgets } = billing.domains;
    await budgets.check();
    await budgets.update(actor, id, created.id, { monthlyCHC: 60 });
    await budgets.check();
    expect(received()).toEqual([
      ['2026-10', 50],
      ['2026-10', 100],
    ]);
  });

  it('are not checked after close', async () => {
    const id = await createOrganization({ '2026-10-20': 60 });
    await createBudget(id);
    await billing.domains.budgets.close();
    await billing.domains.budgets.check();
    expect(receiver.received).toHaveLength(0);
  });
});

describe('the URL of a webhook', () => {
  const violation = (url: string, allowPrivate: boolean) => findUrlViolation(url, { allowPrivate });

  it.each([
    'https://example.com/hook',
    'http://example.com:8080/',
    'https://93.184.216.34/',
    'https://[2606:2800:220:1::1]/',
  ])('%s is allowed', (url) => {
    expect([violation(url, false), violation(url, true)]).toEqual([undefined, undefined]);
  });

  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://0x7f000001/',
    'http://10.1.2.3/',
    'http://192.168.0.1/',
    'http://172.16.0.1/',
    'http://[::1]/',
    'http://[fd00::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://100.64.0.1/',
  ])('%s is allowed only with private addresses', (url) => {
    expect(violation(url, false)).toMatch(/private/);
    expect(violation(url, true)).toBeUndefined();
  });

  it.each([
    'http://169.254.169.254/latest',
    'http://[::ffff:169.254.169.254]/',
    'http://[fe80::1]/',
    'http://[::127.0.0.1]/',
    'http://[::7f00:1]/',
    'http://[64:ff9b::10.0.0.1]/',
    'http://[2002:7f00:1::]/',
    'http://0.0.0.0/',
    'http://[::]/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://[fd00:ec2::254]/',
    'http://100.100.100.200/',
    'http://2852039166/',
    'http://[64:ff9b::a9fe:a9fe]/',
  ])('%s is never allowed', (url) => {
    expect(violation(url, true)).toMatch(/never allowed/);
  });

  it.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'example.com',
    '',
    'https://user:pass@example.com/',
    `https://example.com/${'x'.repeat(2050)}`,
  ])('%s is rejected', (url) => {
    expect(violation(url, true)).toMatch(/^The value must/);
  });
});
