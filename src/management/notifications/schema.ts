import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { StorableText as text } from '../../kernel/schemas/storable-text.ts';
import { isoTime } from '../../kernel/time/clock.ts';
import { MESSAGE_KINDS, SEVERITIES } from '../../platform/notifications/message.ts';
import { type Notification, STATUSES } from '../../platform/notifications/notification.ts';
import { SERVICES } from '../../platform/notifications/senders/target.ts';
import { MAX_TEMPLATE_CHARACTERS } from '../../platform/notifications/template-parser.ts';
import { MAX_URL_LENGTH } from '../../platform/webhooks/webhook.ts';
import { DEFAULT_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS } from './channel.ts';
import type { SavedChannel } from './channels.ts';

const Secrets = (description: string) =>
  Type.Record(Type.String({ maxLength: 256 }), text({ maxLength: 4096 }), { maxProperties: 100, description });

export const WebhookBody = NamedObject('WebhookInput', {
  name: text({ minLength: 1, maxLength: 1024, description: 'Unique among the webhooks of its service' }),
  service: Type.Enum([...SERVICES], { description: 'slack, generic and incidentio are those of the public interface' }),
  url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_URL_LENGTH,
      description: 'http or https. Required except for pagerduty, which has a default, and email, which has none',
    }),
  ),
  description: Type.Optional(text({ maxLength: 2048 })),
  body: Type.Optional(
    text({ maxLength: MAX_TEMPLATE_CHARACTERS, description: 'A template of the body. generic and incidentio only' }),
  ),
  headers: Type.Optional(Secrets('Sent with each request; never returned. generic and incidentio only')),
  queryParams: Type.Optional(Secrets('Added to the URL; never returned. generic and incidentio only')),
  routingKey: Type.Optional(
    text({ minLength: 1, maxLength: 256, description: 'Of the Events API v2; never returned. pagerduty only' }),
  ),
  to: Type.Optional(
    Type.Array(text({ minLength: 3, maxLength: 254 }), {
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
      description: 'Mail addresses. email only',
    }),
  ),
  timeoutSeconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_TIMEOUT_SECONDS,
      description: `How long the receiver may take to respond; ${DEFAULT_TIMEOUT_SECONDS} if omitted. Not of email`,
    }),
  ),
});

export const WebhookRecord = NamedObject('Webhook', {
  id: Type.String(),
  name: Type.String(),
  service: Type.Enum([...SERVICES]),
  url: Type.Optional(Type.String({ description: 'Only its origin for those who may not change webhooks' })),
  description: Type.Optional(Type.String()),
  body: Type.Optional(Type.String({ description: 'generic and incidentio only' })),
  to: Type.Optional(Type.Array(Type.String())),
  timeoutSeconds: Type.Optional(Type.Integer()),
  signingSecret: Type.Optional(
    Type.String({ description: 'Only in the response to the request that generated it: generic and incidentio' }),
  ),
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time' }),
});

/** `canWrite`: the path and query of a URL often contain a secret, so others see its origin only. */
export function toWebhookRecord({ channel, newSecret }: SavedChannel, canWrite: boolean): Static<typeof WebhookRecord> {
  const { id, content, createdAt, updatedAt } = channel;
  const { name, service, url, description, body, to, timeoutSeconds } = content;
  return {
    id,
    name,
    service,
    ...(url !== undefined && { url: canWrite ? url : new URL(url).origin }),
    ...(description !== undefined && { description }),
    ...(body !== undefined && { body }),
    ...(to && { to }),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    ...(newSecret !== undefined && { signingSecret: newSecret }),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}

const Answer = {
  status: Type.Optional(Type.Integer({ description: 'The status of the HTTP response' })),
  answer: Type.Optional(Type.String({ description: 'The beginning of the response' })),
  tookMs: Type.Optional(Type.Integer()),
};

export const WebhookTest = NamedObject('WebhookTest', {
  isDelivered: Type.Boolean(),
  ...Answer,
  error: Type.Optional(Type.String()),
});

export const NotificationQuery = Type.Object(
  {
    subjectId: Type.Optional(text({ maxLength: 64, description: 'Of an alert or budget' })),
    channelId: Type.Optional(text({ maxLength: 64, description: 'Of a webhook' })),
    status: Type.Optional(Type.Enum([...STATUSES])),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: 'Default: 50' })),
    cursor: Type.Optional(Type.String({ maxLength: 512, description: 'The nextCursor of the previous page' })),
  },
  { additionalProperties: false },
);

export const NotificationRecord = NamedObject('Notification', {
  id: Type.String({ format: 'uuid', description: 'The same for every attempt' }),
  channelId: Type.Union([Type.String(), Type.Null()], { description: 'null for the webhook of a budget' }),
  subject: Type.Object({ type: Type.Enum(['alert', 'budget']), id: Type.String() }),
  kind: Type.Optional(Type.Enum([...MESSAGE_KINDS])),
  severity: Type.Optional(Type.Enum([...SEVERITIES])),
  title: Type.Optional(Type.String()),
  status: Type.Enum([...STATUSES], {
    description:
      'pending until the receiver accepts it, failed after the last attempt, cancelled if there was nothing left to send it to',
  }),
  attempts: Type.Integer(),
  createdAt: Type.String({ format: 'date-time' }),
  lastAttemptAt: Type.Optional(Type.String({ format: 'date-time' })),
  nextAttemptAt: Type.Optional(Type.String({ format: 'date-time', description: 'Only while pending' })),
  lastError: Type.Optional(Type.String({ description: 'Why the last attempt failed' })),
  lastExchange: Type.Optional(
    Type.Object(
      {
        to: Type.String({ description: 'The origin of the URL, or mail addresses' }),
        payload: Type.String({ description: 'The body that was sent, without secrets' }),
        ...Answer,
      },
      { description: 'Of the last attempt' },
    ),
  ),
});

export function toNotificationRecord(notification: Notification): Static<typeof NotificationRecord> {
  const { id, channelId, subject, content, status, attempts, createdAt, lastError, exchange } = notification;
  const { lastAttemptAt, nextAttemptAt } = notification;
  return {
    id,
    channelId: channelId ?? null,
    subject,
    ...('message' in content && {
      kind: content.message.kind,
      severity: content.message.severity,
      title: content.message.title,
    }),
    status,
    attempts,
    createdAt: isoTime(createdAt),
    ...(lastAttemptAt !== undefined && { lastAttemptAt: isoTime(lastAttemptAt) }),
    // A new notification is due at once.
    ...(nextAttemptAt !== undefined && { nextAttemptAt: isoTime(Math.max(nextAttemptAt, createdAt)) }),
    ...(lastError !== undefined && { lastError }),
    ...(exchange && { lastExchange: exchange as Static<typeof NotificationRecord>['lastExchange'] }),
  };
}
