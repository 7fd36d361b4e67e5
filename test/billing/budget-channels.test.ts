import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { toBudgetRecord } from '../../src/management/billing/budgets/schema.ts';
import { actor, useBilling } from '../support/billing.ts';
import { useReceiver } from '../support/receiver.ts';
import { onEachStore } from '../support/server.ts';

onEachStore('budgets with channels', (store) => {
  const billing = useBilling(store);
  const receiver = useReceiver();

  async function createOrganization() {
    const id = randomUUID();
    const metrics = { computeCHC: 60 };
    const entity = { entityType: 'service' as const, entityId: randomUUID(), dataWarehouseId: randomUUID() };
    const cost = { date: '2026-10-20', ...entity, metrics };
    await billing.domains.fleet.apply({ organizations: [{ id, name: 'Acme', usageCosts: [cost] }] }, actor);
    receiver.received.length = 0;
    receiver.status = 204;
    return id;
  }

  it('send each threshold to the webhook and to every channel', async () => {
    const id = await createOrganization();
    const { budgets, notifications } = billing.domains;
    const { channel } = await notifications.channels.create(actor, id, {
      service: 'slack',
      name: 'chat',
      url: receiver.url,
    });
    const { budget } = await budgets.create(actor, id, {
      name: 'Team <A>',
      monthlyCHC: 100,
      thresholds: [50],
      webhook: { url: receiver.url, secret: 'a-secret-of-the-receiver' },
      channelIds: [channel.id],
    });
    await budgets.check();
    await budgets.check();
    const bodies = receiver.received.map(({ body }) => JSON.parse(body));
    expect(bodies).toHaveLength(2);
    expect(bodies).toContainEqual(expect.objectContaining({ type: 'budget_threshold', threshold: 50 }));
    const text = 'Team &lt;A&gt;: 50 % of the budget for 2026-10 is spent';
    expect(bodies).toContainEqual(expect.objectContaining({ text }));
    const sent = await notifications.list(id, { subjectId: budget.id, limit: 10 });
    expect(sent.map(({ channelId, status }) => [channelId, status])).toEqual(
      expect.arrayContaining([
        [undefined, 'delivered'],
        [channel.id, 'delivered'],
      ]),
    );
    expect(toBudgetRecord(await budgets.get(id, budget.id)).notices).toMatchObject([{ delivery: 'delivered' }]);
  });

  it('use the webhook that they have when an alert is sent, and send nothing after they were deleted', async () => {
    const id = await createOrganization();
    const { budgets, notifications } = billing.domains;
    const webhook = { url: `${receiver.url}&old`, secret: 'a-secret-of-the-receiver' };
    const { budget } = await budgets.create(actor, id, { monthlyCHC: 100, thresholds: [50], webhook });
    receiver.status = 500;
    await budgets.check();
    await budgets.update(actor, id, budget.id, { webhook: { ...webhook, url: `${receiver.url}&new` } });
    billing.clock.add(10_000);
    await budgets.check();
    expect(receiver.received.map(({ path }) => path.slice(-4))).toEqual(['&old', '&new']);
    await budgets.remove(actor, id, budget.id);
    billing.clock.add(3_600_000);
    await budgets.check();
    expect(receiver.received).toHaveLength(2);
    expect(await notifications.list(id, { limit: 10 })).toMatchObject([{ status: 'cancelled' }]);
  });

  it('deliver the alerts that an earlier version left in its own table, with their id and attempts', async () => {
    const id = await createOrganization();
    const { budgets } = billing.domains;
    const webhook = { url: receiver.url, secret: 'a-secret-of-the-receiver' };
    const { budget } = await budgets.create(actor, id, { monthlyCHC: 100, thresholds: [50, 55], webhook });
    const row = (threshold: string, more: object, next: number | null) => ({
      organization_id: id,
      budget_id: budget.id,
      month: '2026-10',
      threshold,
      created_at: billing.clock.now(),
      attempts: 3,
      next_attempt_at: next,
      document: JSON.stringify({ body: `{"threshold":${threshold}}`, ...more }),
    });
    const rows = [
      row('50', { deliveryId: randomUUID(), delivery: 'pending', lastError: 'x responded with status 500' }, 0),
      row('55', { deliveryId: randomUUID(), delivery: 'delivered', lastAttemptAt: 1_790_000_000_000 }, null),
    ];
    await billing.state.write((tx) => tx.insertInto('budget_notices').values(rows).execute());
    const nodes = [billing.domains, billing.restart()];
    await Promise.all(nodes.map((node) => node.budgets.check()));
    expect(receiver.received.map(({ body, headers }) => [body, headers['x-pilothouse-delivery']])).toEqual([
      ['{"threshold":50}', JSON.parse(rows[0]?.document ?? '').deliveryId],
    ]);
    const { notices } = toBudgetRecord(await budgets.get(id, budget.id));
    expect(notices).toMatchObject([
      { threshold: 50, delivery: 'delivered', attempts: 4 },
      { threshold: 55, delivery: 'delivered', attempts: 3, lastAttemptAt: '2026-09-21T14:13:20Z' },
    ]);
    expect(notices[0]).not.toHaveProperty('lastError');
  });
});
