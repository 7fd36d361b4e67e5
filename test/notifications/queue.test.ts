import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Message } from '../../src/platform/notifications/message.ts';
import { actor, useBilling } from '../support/billing.ts';
import { useMisbehavingReceiver } from '../support/misbehaving-receiver.ts';
import { useReceiver } from '../support/receiver.ts';
import { onEachStore } from '../support/server.ts';
import { message } from './message.ts';

onEachStore('the queue of notifications', (store) => {
  const billing = useBilling(store);
  const receiver = useReceiver();
  const bad = useMisbehavingReceiver();

  async function createChannel(more: object = {}) {
    const id = randomUUID();
    await billing.domains.fleet.apply({ organizations: [{ id, name: 'Acme' }] }, actor);
    receiver.received.length = 0;
    receiver.status = 204;
    const { notifications } = billing.domains;
    const { channel } = await notifications.channels.create(actor, id, {
      service: 'generic',
      name: 'hook',
      url: receiver.url,
      ...more,
    });
    return { organizationId: id, channelId: channel.id };
  }

  /** Enqueues messages of one alert, each with a key of its own. */
  const enqueue = (
    to: { organizationId: string; channelId: string },
    ...messages: (Partial<Message> & { key: string })[]
  ) =>
    billing.state.write((tx) =>
      billing.domains.notifications.enqueue(
        tx,
        messages.map(({ key, ...more }) => ({
          ...to,
          subject: { type: 'alert', id: 'alert-1' },
          key: [key],
          message: { ...message, ...more },
        })),
      ),
    );
  const list = (organizationId: string) => billing.domains.notifications.list(organizationId, { limit: 100 });
  const texts = () => receiver.received.map(({ body }) => JSON.parse(body).text.split(' | ')[0]);

  it('sends a message once, however often it is enqueued and whatever node delivers', async () => {
    const to = await createChannel();
    await enqueue(to, { key: 'a' });
    await enqueue(to, { key: 'a', title: 'Again' });
    const nodes = [billing.domains, billing.restart(), billing.restart()];
    await Promise.all(nodes.map(({ notifications }) => notifications.trigger()));
    expect(texts()).toEqual([message.title]);
    expect(await list(to.organizationId)).toMatchObject([
      { status: 'delivered', attempts: 1, exchange: { status: 204, to: new URL(receiver.url).origin } },
    ]);
  });

  it('skips channels that do not exist, and cancels when one is deleted', async () => {
    const to = await createChannel();
    await enqueue({ ...to, channelId: 'no-such-channel' }, { key: 'a' });
    expect(await list(to.organizationId)).toEqual([]);
    await enqueue(to, { key: 'a' });
    await billing.domains.notifications.channels.remove(actor, to.organizationId, to.channelId);
    await billing.domains.notifications.trigger();
    expect(receiver.received).toEqual([]);
    expect(await list(to.organizationId)).toMatchObject([
      { status: 'cancelled', attempts: 0, nextAttemptAt: undefined },
    ]);
  });

  it('sends what belongs to one incident in order, also when the first attempt fails', async () => {
    const to = await createChannel();
    await enqueue(to, { key: 'a', title: 'firing' });
    receiver.status = 500;
    const { notifications } = billing.domains;
    await notifications.trigger();
    billing.clock.add(1000);
    await enqueue(to, { key: 'b', title: 'resolved' }, { key: 'c', title: 'other', eventId: 'event-2' });
    receiver.status = 204;
    await notifications.trigger();
    expect(texts()).toEqual(['firing', 'other']);
    billing.clock.add(10_000);
    await notifications.trigger();
    billing.clock.add(10_000);
    await notifications.trigger();
    expect(texts()).toEqual(['firing', 'other', 'firing', 'resolved']);
  });

  it('retries for about a day with the same id, keeps the queue over a restart, and can start over', async () => {
    const to = await createChannel();
    await enqueue(to, { key: 'a' });
    receiver.status = 500;
    const { notifications } = billing.restart();
    for (let attempt = 0; attempt < 12; attempt++) {
      await notifications.trigger();
      billing.clock.add(12 * 3_600_000);
    }
    expect(receiver.received).toHaveLength(10);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-signature'])).size).toBe(10);
    const [failed] = await list(to.organizationId);
    expect(failed).toMatchObject({
      status: 'failed',
      attempts: 10,
      nextAttemptAt: undefined,
      lastError: '127.0.0.1 responded with status 500',
    });
    receiver.status = 204;
    await notifications.sendAgain(actor, to.organizationId, failed?.id ?? '');
    await notifications.trigger();
    expect(receiver.received).toHaveLength(11);
    const [delivered] = await list(to.organizationId);
    expect(delivered).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(delivered).not.toHaveProperty('lastError');
  });

  it('waits as long as the receiver asks, within bounds, with everything for that receiver', async () => {
    const to = await createChannel({ url: `${bad.url}/too-many` });
    await enqueue(to, { key: 'a' });
    billing.clock.add(1);
    await enqueue(to, { key: 'b', eventId: 'event-2' });
    const { notifications } = billing.domains;
    bad.paths.length = 0;
    await notifications.trigger();
    billing.clock.add(119_999);
    await notifications.trigger();
    expect(bad.paths).toHaveLength(1);
    billing.clock.add(1);
    await notifications.trigger();
    expect(bad.paths).toHaveLength(2);
    const other = await createChannel({ url: `${bad.url}/unavailable` });
    await enqueue(other, { key: 'a' });
    await notifications.trigger();
    const [waiting] = await list(other.organizationId);
    expect((waiting?.nextAttemptAt ?? 0) - billing.clock.now()).toBe(3_600_000);
  });

  it('tries a new message soon, although an old one for a receiver that is down waits for hours', async () => {
    const to = await createChannel({ url: 'http://127.0.0.1:1/' });
    await enqueue(to, { key: 'old' });
    const { notifications } = billing.domains;
    for (const seconds of [0, 10, 30, 60, 300, 900]) {
      billing.clock.add(seconds * 1000);
      await notifications.trigger();
    }
    await enqueue(to, { key: 'new', eventId: 'event-2' });
    billing.clock.add(3_600_000);
    // The old one is first, and fails for the seventh time.
    await billing.state.write((tx) =>
      tx.updateTable('notifications').set({ next_attempt_at: 1 }).where('event_id', '=', 'event-2').execute(),
    );
    await billing.state.write((tx) =>
      tx.updateTable('notifications').set({ next_attempt_at: 0 }).where('event_id', '=', 'event-1').execute(),
    );
    await notifications.trigger();
    const waits = (await list(to.organizationId)).map((one) => (one.nextAttemptAt ?? 0) - billing.clock.now());
    expect(waits).toEqual([10_000, 10_800_000]);
  });

  it('is not held up by receivers that hang, send without end or redirect', async () => {
    const to = await createChannel();
    for (const path of ['hang', 'endless', 'redirect-to-private']) {
      const { channel } = await billing.domains.notifications.channels.create(actor, to.organizationId, {
        service: 'generic',
        name: path,
        url: `${bad.url}/${path}`,
      });
      for (let number = 0; number < 20; number++)
        await enqueue({ ...to, channelId: channel.id }, { key: String(number), eventId: `${path}-${number}` });
    }
    billing.clock.add(1);
    for (let number = 0; number < 20; number++) await enqueue(to, { key: String(number), eventId: `good-${number}` });
    bad.paths.length = 0;
    await billing.domains.notifications.trigger();
    expect(receiver.received).toHaveLength(20);
    // One attempt shows that a receiver does not respond.
    expect(bad.paths.filter((path) => path === '/hang')).toHaveLength(1);
    expect(bad.paths.filter((path) => path === '/endless')).toHaveLength(20);
    const all = await billing.domains.notifications.list(to.organizationId, { limit: 100 });
    expect(all.filter(({ status }) => status === 'delivered')).toHaveLength(40);
  });

  it('shows notifications of the own organization only, by subject, channel and state, in pages', async () => {
    const to = await createChannel();
    const other = await createChannel();
    for (const key of ['a', 'b', 'c']) {
      await enqueue(to, { key });
      billing.clock.add(1);
    }
    const { notifications } = billing.domains;
    await notifications.trigger();
    await enqueue(to, { key: 'd' });
    const count = async (filter: object, organizationId = to.organizationId) =>
      (await notifications.list(organizationId, { limit: 100, ...filter })).length;
    expect(await count({})).toBe(4);
    expect(await count({}, other.organizationId)).toBe(0);
    expect(await count({ status: 'pending' })).toBe(1);
    expect(await count({ status: 'delivered', subjectId: 'alert-1', channelId: to.channelId })).toBe(3);
    expect(await count({ channelId: other.channelId })).toBe(0);
    expect(await count({ subjectId: 'alert-2' })).toBe(0);
    const [first, second, ...rest] = await list(to.organizationId);
    const before = { createdAt: second?.createdAt ?? 0, id: second?.id ?? '' };
    expect(await notifications.list(to.organizationId, { limit: 9, before })).toEqual(rest);
    await expect(notifications.sendAgain(actor, other.organizationId, first?.id ?? '')).rejects.toThrow('not found');
  });

  it('forgets notifications after a month, but nothing that is still to be sent', async () => {
    const to = await createChannel();
    await enqueue(to, { key: 'a' });
    await billing.domains.notifications.trigger();
    await enqueue(to, { key: 'b', eventId: 'event-2' });
    const { retention } = billing.domains;
    billing.clock.add(31 * 86_400_000);
    await retention.run();
    expect(await list(to.organizationId)).toHaveLength(2);
    billing.clock.add(2 * 86_400_000);
    await retention.run();
    expect(await list(to.organizationId)).toMatchObject([{ status: 'pending' }]);
  });
});
