import { AppError, rejectViolations } from '../../kernel/errors.ts';
import { rejectStale } from '../../kernel/etag.ts';
import { isHexId, newHexId, newUuid } from '../../kernel/ids.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { Message } from '../../platform/notifications/message.ts';
import type { Outcome } from '../../platform/notifications/notification.ts';
import type { Send } from '../../platform/notifications/senders/send.ts';
import type { InTransaction, State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import { newStandardSecret } from '../../platform/webhooks/signed-requests.ts';
import { type Actor, difference } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import type { Organizations } from '../organizations/organizations.ts';
import {
  type Channel,
  type ChannelContent,
  createChannelEtag,
  isSigned,
  listViolations,
  mergeContent,
  pickContent,
  toAuditRecord,
  toTarget,
} from './channel.ts';
import { countChannels, deleteChannel, findChannel, findChannelId, listChannels, putChannel } from './store.ts';

/** Per organization. */
const MAX_CHANNELS = 100;

export interface ChannelOptions {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  /** Allows loopback and private addresses. */
  allowPrivate: boolean;
  /** What uses a channel, such as "alert Errors". A channel in use cannot be deleted. */
  listChannelUsers(db: Db, organizationId: string, channelId: string): Promise<string[]>;
  /** Before the transaction. The result is called in it, and queues what a channel has to be told before it is deleted. */
  prepareChannelRemoval(organizationId: string, channelId: string): Promise<(tx: Db) => Promise<void>>;
}

/** A channel, with its signing secret if the call generated it. */
export interface SavedChannel {
  channel: Channel;
  newSecret?: string | undefined;
}

export function createChannels(options: ChannelOptions & { hasMail: boolean; send: Send; onRemoved(): void }) {
  const { state, clock, audit, organizations, allowPrivate, hasMail, send } = options;

  async function get(db: Db, organizationId: string, id: string): Promise<Channel> {
    const channel = isHexId(id) ? await findChannel(db, organizationId, id) : undefined;
    if (!channel) throw new AppError('not_found', 'Webhook not found');
    return channel;
  }

  /** Locks the organization. */
  async function getChangeable(tx: Db, organizationId: string, id: string, ifMatch: string | undefined) {
    await organizations.lock(tx, organizationId);
    const stored = await get(tx, organizationId, id);
    rejectStale('webhook', ifMatch, [createChannelEtag(stored)]);
    return stored;
  }

  /** Two changes within a millisecond have different times, and so different etags. */
  const change = (before: Channel, content: ChannelContent): Channel => ({
    ...before,
    content,
    updatedAt: Math.max(clock.now(), before.updatedAt + 1),
  });

  async function check(tx: Db, organizationId: string, content: ChannelContent, ownId?: string): Promise<void> {
    rejectViolations(listViolations(content, { allowPrivate, hasMail }));
    const sameName = await findChannelId(tx, organizationId, content);
    if (sameName !== undefined && sameName !== ownId)
      throw new AppError('bad_request', 'A webhook with this service and name already exists', { field: 'name' });
  }

  /** Adds a secret if the service signs and has none. */
  function sign(content: ChannelContent): { content: ChannelContent; newSecret?: string } {
    if (!isSigned(content.service) || content.signingSecret !== undefined) return { content };
    const newSecret = newStandardSecret();
    return { content: { ...content, signingSecret: newSecret }, newSecret };
  }

  return {
    async list(organizationId: string, page: { limit: number; offset: number }) {
      const [list, total] = await Promise.all([
        listChannels(state.db, organizationId, page),
        countChannels(state.db, organizationId),
      ]);
      return { list, total };
    },

    async create(
      actor: Actor,
      organizationId: string,
      given: ChannelContent,
      inTransaction?: InTransaction<SavedChannel>,
    ): Promise<SavedChannel> {
      const { content, newSecret } = sign(pickContent(given));
      const now = clock.now();
      const channel = { id: newHexId(), organizationId, content, createdAt: now, updatedAt: now };
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        await check(tx, organizationId, content);
        if ((await countChannels(tx, organizationId)) >= MAX_CHANNELS)
          throw new AppError(
            'conflict',
            `The organization has reached its limit of ${MAX_CHANNELS} webhooks; delete one first`,
          );
        await putChannel(tx, channel);
        await audit.record(tx, actor, {
          organizationId,
          type: 'channel_create',
          resource: { type: 'channel', id: channel.id },
          after: toAuditRecord(content),
        });
        await inTransaction?.(tx, { channel });
      });
      return { channel, newSecret };
    },

    /** Omitted description and body are cleared; omitted secrets are kept unless the address or service changes. */
    async replace(
      actor: Actor,
      organizationId: string,
      id: string,
      given: ChannelContent,
      ifMatch?: string,
    ): Promise<SavedChannel> {
      return state.write(async (tx) => {
        const before = await getChangeable(tx, organizationId, id, ifMatch);
        const { content, newSecret } = sign(mergeContent(pickContent(given), before.content));
        await check(tx, organizationId, content, id);
        if (Object.keys(difference(before.content, content).after).length === 0 && !hasCleared(before.content, content))
          return { channel: before };
        const channel = change(before, content);
        await putChannel(tx, channel);
        await audit.record(tx, actor, {
          organizationId,
          type: 'channel_update',
          resource: { type: 'channel', id },
          ...difference(toAuditRecord(before.content), toAuditRecord(content)),
        });
        return { channel, newSecret };
      });
    },

    /** Requests are signed with the new secret at once. */
    async rotateSecret(actor: Actor, organizationId: string, id: string): Promise<SavedChannel> {
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const before = await get(tx, organizationId, id);
        const { service } = before.content;
        if (!isSigned(service))
          throw new AppError('conflict', `Requests to a webhook of the service ${service} are not signed`);
        const { content, newSecret } = sign({ ...before.content, signingSecret: undefined });
        const channel = change(before, content);
        await putChannel(tx, channel);
        await audit.record(tx, actor, {
          organizationId,
          type: 'channel_update',
          resource: { type: 'channel', id },
          after: { name: content.name, signingSecret: 'replaced' },
        });
        return { channel, newSecret };
      });
    },

    async remove(actor: Actor, organizationId: string, id: string, ifMatch?: string): Promise<void> {
      await get(state.db, organizationId, id);
      const prepared = await options.prepareChannelRemoval(organizationId, id);
      await state.write(async (tx) => {
        const channel = await getChangeable(tx, organizationId, id, ifMatch);
        const users = await options.listChannelUsers(tx, organizationId, id);
        if (users.length > 0)
          throw new AppError('conflict', `The webhook is in use: ${formatUsers(users)}; change these first`);
        await prepared(tx);
        await deleteChannel(tx, channel);
        await audit.record(tx, actor, {
          organizationId,
          type: 'channel_delete',
          resource: { type: 'channel', id },
          before: toAuditRecord(channel.content),
        });
      });
      options.onRemoved();
    },

    /** Sends a test now, once. */
    async test(actor: Actor, organizationId: string, id: string): Promise<Outcome> {
      const { content } = await get(state.db, organizationId, id);
      const outcome = await send(toTarget(content), {
        id: newUuid(),
        content: { message: createTestMessage(content.name, id, clock.now()) },
      });
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        await audit.record(tx, actor, {
          organizationId,
          type: 'channel_test',
          resource: { type: 'channel', id },
          after: { name: content.name, error: outcome.error ?? null },
        });
      });
      return outcome;
    },
  };
}

const hasCleared = (before: ChannelContent, after: ChannelContent): boolean =>
  Object.entries(before).some(
    ([name, value]) => value !== undefined && after[name as keyof ChannelContent] === undefined,
  );

const MAX_LISTED_USERS = 5;

const formatUsers = (users: readonly string[]): string =>
  users.slice(0, MAX_LISTED_USERS).join(', ') +
  (users.length > MAX_LISTED_USERS ? ` and ${users.length - MAX_LISTED_USERS} more` : '');

const createTestMessage = (name: string, channelId: string, now: number): Message => ({
  kind: 'test',
  eventId: `test-${channelId}`,
  title: `Test of ${name}`,
  body: 'Notifications from Pilothouse arrive here.',
  severity: 'info',
  startTime: now,
  endTime: now,
  name,
});
