import Type, { type Static } from 'typebox';
import { isoSeconds } from '../../kernel/clock.ts';
import { chcFromMicros } from '../../kernel/money.ts';
import { isStorable, STORABLE_RULE } from '../../kernel/text.ts';
import { OrganizationPath } from '../../organizations/schema.ts';
import type { ShownBudget } from './budgets.ts';

export const BudgetPath = Type.Object({
  ...OrganizationPath.properties,
  budgetId: Type.String({ format: 'uuid' }),
});

const storable = (options: { minLength: number; maxLength: number; description?: string }) =>
  Type.Refine(Type.String(options), isStorable, () => STORABLE_RULE);

const Name = storable({ minLength: 1, maxLength: 255, description: 'Need not be unique' });
const MonthlyCHC = Type.Number({ description: 'CHC in a calendar month (UTC); more than 0, at most 6 decimals' });
const isThreshold = (value: unknown): boolean =>
  value === 'forecast' || (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1000);
const Threshold = Type.Union([Type.Integer(), Type.String()]);
const Thresholds = Type.Array(
  Type.Refine(Threshold, isThreshold, () => 'The value must be a whole number of percent from 1 to 1000, or forecast'),
  {
    minItems: 1,
    maxItems: 20,
    uniqueItems: true,
    description:
      'Percent of the budget, and forecast for its expected end reaching all of it; 50, 75, 90, 100 and forecast when left out',
  },
);
const WebhookBody = Type.Object({
  url: Type.String({ minLength: 1, description: 'http or https; without user name and password' }),
  secret: Type.Optional(
    storable({ minLength: 16, maxLength: 256, description: 'Signs what is sent; made and shown once when left out' }),
  ),
});

export const CreateBudgetBody = Type.Object({
  name: Type.Optional(Name),
  monthlyCHC: MonthlyCHC,
  thresholds: Type.Optional(Thresholds),
  webhook: Type.Optional(WebhookBody),
});

export const UpdateBudgetBody = Type.Object({
  name: Type.Optional(Name),
  monthlyCHC: Type.Optional(MonthlyCHC),
  thresholds: Type.Optional(Thresholds),
  webhook: Type.Optional(Type.Union([WebhookBody, Type.Null()], { description: 'null: none' })),
});

export const BudgetRecord = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  monthlyCHC: Type.Number(),
  thresholds: Type.Array(Threshold),
  webhook: Type.Optional(
    Type.Object({
      url: Type.String(),
      secret: Type.Optional(Type.String({ description: 'Shown this once, where it was made by this request' })),
    }),
  ),
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time' }),
  notices: Type.Array(
    Type.Object({
      month: Type.String(),
      threshold: Threshold,
      createdAt: Type.String({ format: 'date-time' }),
      delivery: Type.Enum(['none', 'pending', 'delivered', 'failed'], { description: 'Of the webhook' }),
      attempts: Type.Integer(),
    }),
    { description: 'What was told this month' },
  ),
});

export function budgetRecord({ budget, notices, newSecret }: ShownBudget): Static<typeof BudgetRecord> {
  const { id, name, monthlyMicros, thresholds, webhook, createdAt, updatedAt } = budget;
  return {
    id,
    name,
    monthlyCHC: chcFromMicros(monthlyMicros),
    thresholds: [...thresholds],
    ...(webhook ? { webhook: { url: webhook.url, ...(newSecret === undefined ? {} : { secret: newSecret }) } } : {}),
    createdAt: isoSeconds(createdAt),
    updatedAt: isoSeconds(updatedAt),
    notices: notices.map((notice) => ({
      month: notice.month,
      threshold: notice.threshold,
      createdAt: isoSeconds(notice.createdAt),
      delivery: notice.delivery,
      attempts: notice.attempts,
    })),
  };
}
