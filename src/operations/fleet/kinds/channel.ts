import { AppError } from '../../../kernel/errors.ts';
import { listBudgetsUsingChannel } from '../../../management/billing/budgets/store.ts';
import {
  type Channel,
  type ChannelContent,
  isSameReceiver,
  isSigned,
  listViolations,
  toAuditRecord,
} from '../../../management/notifications/channel.ts';
import { deleteChannel, listChannels, putChannel } from '../../../management/notifications/store.ts';
import { newStandardSecret } from '../../../platform/webhooks/signed-requests.ts';
import type { Fields } from '../declared.ts';
import type { Kind } from './kind.ts';

/** Whether private addresses and mail are allowed is a setting of the server that sends. */
const RULES = { allowPrivate: true, hasMail: true };

export const channelKind: Kind<Channel> = {
  name: 'channel',
  activities: { create: 'channel_create', update: () => 'channel_update', remove: 'channel_delete' },

  async load(tx, organizationId) {
    return new Map((await listChannels(tx, organizationId)).map((channel) => [channel.id, channel]));
  },

  toFields: ({ content }) => orderMembers(content),
  toExportFields: ({ content: { headers: _, queryParams: __, routingKey: ___, signingSecret: ____, ...content } }) =>
    orderMembers(content),
  toAuditFields: ({ content }) => toAuditRecord(content),
  defaults: () => ({}),

  /** Members of another service do not fit, and secrets may not be meant for another receiver: the file declares them. */
  build(id, fields, { organization, now }, before, declared) {
    const merged = fields as unknown as ChannelContent;
    const known = before?.content;
    const isKept = known === undefined || isSameReceiver(merged, known);
    const { headers, queryParams, routingKey } = (isKept ? merged : declared) as ChannelContent;
    const members = known && known.service !== merged.service ? declared : fields;
    const content = { ...(members as unknown as ChannelContent), headers, queryParams, routingKey };
    const signingSecret = merged.signingSecret ?? known?.signingSecret ?? newStandardSecret();
    return {
      id,
      organizationId: organization.id,
      content: orderMembers({ ...content, signingSecret: isSigned(content.service) ? signingSecret : undefined }),
      createdAt: before?.createdAt ?? now,
      updatedAt: now,
    };
  },

  violations: ({ id, after: { content } }, { targets: { channels } }) => [
    ...listViolations(content, RULES),
    ...[...channels.values()]
      .filter((other) => other.id !== id && other.content.service === content.service)
      .filter((other) => other.content.name === content.name)
      .map((other) => ({
        path: 'name',
        rule: `The service ${content.service} has another channel with this name, ${other.id}`,
        value: content.name,
      })),
  ],

  async save(tx, pairs) {
    for (const { after } of pairs) await putChannel(tx, after);
  },

  /** Alerts that use it are violations of the plan. */
  async remove(tx, channel, { alertRemoval }) {
    const { organizationId, id, content } = channel;
    const [budget] = await listBudgetsUsingChannel(tx, organizationId, id);
    if (budget !== undefined)
      throw new AppError('conflict', `The channel ${content.name} is in use: ${budget}; change it first`);
    await alertRemoval.leaveChannel(tx, organizationId, id);
    await deleteChannel(tx, channel);
  },
};

const MEMBERS = [
  'service',
  'name',
  'description',
  'url',
  'body',
  'to',
  'timeoutSeconds',
  'headers',
  'queryParams',
  'routingKey',
  'signingSecret',
] as const satisfies readonly (keyof ChannelContent)[];

/** In a fixed order, because members are compared as text. */
const orderMembers = (content: Partial<ChannelContent>): ChannelContent & Fields =>
  Object.fromEntries(
    MEMBERS.flatMap((name) => (content[name] === undefined ? [] : [[name, content[name]]])),
  ) as unknown as ChannelContent & Fields;
