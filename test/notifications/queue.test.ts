import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Message } from '../../src/platform/notifications/message.ts';
import { actor, useBilling } from '../support/billing.ts';
import { useReceiver } from '../support/receiver.ts';
import { onEachStore } from '../support/server.ts';

const message: Message = {
  kind: 'firing',
  eventId: 'event-1',
  title: 'Errors',
  body: 'Too many "errors"',
  severity: 'error',
  startTime: 1_790_000_000_000,
  endTime: 1_790_000_060_000,
  name: 'Errors',
};

onEachStore('the queue of notifications', (store) => {
  const billing = useBilling(store);
  const receiver = useReceiver();

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
    expect(texts()).toEqual(['Errors']);
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
});
