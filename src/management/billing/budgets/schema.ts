import Type, { type Static } from 'typebox';
import { chcFromMicros } from '../../../kernel/numbers/money.ts';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { StorableText } from '../../../kernel/schemas/storable-text.ts';
import { isoSeconds } from '../../../kernel/time/clock.ts';
import { MAX_URL_LENGTH } from '../../../platform/webhooks/webhook.ts';
import { OrganizationPath } from '../../organizations/schema.ts';
import { type BudgetAlert, DELIVERIES } from './budget.ts';
import type { BudgetWithAlerts } from './budgets.ts';

export const BudgetPath = Type.Object({
  ...OrganizationPath.properties,
  budgetId: Type.String({ format: 'uuid' }),
});

const Name = StorableText({ minLength: 1, maxLength: 255, description: 'Need not be unique' });
const MonthlyCHC = Type.Number({
  description: 'CHC per calendar month (UTC); greater than 0, at most 6 decimals',
  documented: { exclusiveMinimum: 0 },
});
const isThreshold = (value: unknown): boolean =>
  value === 'forecast' || (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1000);
const Threshold = Type.Union([
  Type.Integer({ documented: { minimum: 1, maximum: 1000 } }),
  Type.String({ maxLength: 16, documented: { enum: ['forecast'] } }),
]);
const Thresholds = Type.Array(
  Type.Refine(Threshold, isThreshold, () => 'The value must be an integer percentage from 1 to 1000, or forecast'),
  {
    minItems: 1,
    maxItems: 20,
    uniqueItems: true,
    description:
      'Percentages of the budget; forecast means that the forecast for the month reaches the whole budget. Default: 50, 75, 90, 100 and forecast',
  },
);
const WebhookBody = NamedObject('BudgetWebhookRequest', {
  url: Type.String({
    minLength: 1,
    maxLength: MAX_URL_LENGTH,
    description: 'http or https, without a user name or password',
  }),
  secret: Type.Optional(
    StorableText({
      minLength: 16,
      maxLength: 256,
      description: 'Signs deliveries. Generated if omitted, and then shown once',
    }),
  ),
});

/** As in alerts. */
const Channel = NamedObject('NotificationChannel', {
  type: Type.Enum(['webhook']),
  webhookId: StorableText({ minLength: 1, maxLength: 64, description: 'The id of a webhook of /api/v2/webhooks' }),
});
const Channels = Type.Array(Channel, {
  maxItems: 10,
  uniqueItems: true,
  description: 'Webhooks of the organization that also receive the alerts',
});

export const CreateBudgetBody = NamedObject('BudgetPostRequest', {
  name: Type.Optional(Name),
  monthlyCHC: MonthlyCHC,
  thresholds: Type.Optional(Thresholds),
  webhook: Type.Optional(WebhookBody),
  channels: Type.Optional(Channels),
});

export const UpdateBudgetBody = NamedObject('BudgetPatchRequest', {
  name: Type.Optional(Name),
  monthlyCHC: Type.Optional(MonthlyCHC),
  thresholds: Type.Optional(Thresholds),
  webhook: Type.Optional(Type.Union([WebhookBody, Type.Null()], { description: 'null removes the webhook' })),
  channels: Type.Optional(Channels),
});

export const BudgetRecord = NamedObject('Budget', {
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  monthlyCHC: Type.Number(),
  thresholds: Type.Array(Threshold),
  webhook: Type.Optional(
    Type.Object({
      url: Type.String({ description: 'Only its origin for those who may not change budgets' }),
      secret: Type.Optional(Type.String({ description: 'Only in the response to the request that generated it' })),
    }),
  ),
  channels: Type.Optional(Type.Array(Channel, { description: 'Absent if there are none' })),
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time' }),
  notices: Type.Array(
    Type.Object({
      month: Type.String(),
      threshold: Threshold,
      createdAt: Type.String({ format: 'date-time' }),
      delivery: Type.Enum([...DELIVERIES], {
        description:
          'Delivery to the webhook: none without a webhook, pending until the receiver accepts it, failed after the last attempt',
      }),
      attempts: Type.Integer({ description: 'The number of delivery attempts so far' }),
      lastAttemptAt: Type.Optional(Type.String({ format: 'date-time' })),
      lastError: Type.Optional(Type.String({ description: 'Why the last attempt failed' })),
      nextAttemptAt: Type.Optional(Type.String({ format: 'date-time', description: 'Only while pending' })),
    }),
    { description: 'The alerts of this month' },
  ),
});

export function toBudgetRecord({ budget, alerts, newSecret }: BudgetWithAlerts): Static<typeof BudgetRecord> {
  const { id, name, monthlyMicros, thresholds, webhook, channelIds, createdAt, updatedAt } = budget;
  return {
    id,
    name,
    monthlyCHC: chcFromMicros(monthlyMicros),
    thresholds: [...thresholds],
    ...(webhook ? { webhook: { url: webhook.url, ...(newSecret === undefined ? {} : { secret: newSecret }) } } : {}),
    ...(channelIds.length > 0 && {
      channels: channelIds.map((webhookId) => ({ type: 'webhook' as const, webhookId })),
    }),
    createdAt: isoSeconds(createdAt),
    updatedAt: isoSeconds(updatedAt),
    notices: alerts.map(toNoticeRecord),
  };
}

const toNoticeRecord = (alert: BudgetAlert) => ({
  month: alert.month,
  threshold: alert.threshold,
  createdAt: isoSeconds(alert.createdAt),
  delivery: alert.delivery,
  attempts: alert.attempts,
  ...(alert.lastAttemptAt === undefined ? {} : { lastAttemptAt: isoSeconds(alert.lastAttemptAt) }),
  ...(alert.lastError === undefined ? {} : { lastError: alert.lastError }),
  // A new alert is due at once.
  ...(alert.nextAttemptAt === undefined
    ? {}
    : { nextAttemptAt: isoSeconds(Math.max(alert.nextAttemptAt, alert.createdAt)) }),
});

/** For readers who may not change the webhook: the path and query of its URL often contain a secret. */
export function hideWebhookPath(record: Static<typeof BudgetRecord>): Static<typeof BudgetRecord> {
  const { webhook } = record;
  return webhook ? { ...record, webhook: { ...webhook, url: new URL(webhook.url).origin } } : record;
}
