import type { BudgetCreateBody, BudgetUpdateBody } from '../../../api/generated.ts';
import { type Budget, FORECAST } from '../../../parts/costs/budgets.ts';

/** State of the budget form. */
export interface BudgetDraft {
  name: string;
  /** A string while the input is not a number. */
  monthlyCHC: number | string;
  /** Percentages as entered. */
  percents: string[];
  withForecast: boolean;
  url: string;
  secret: string;
}

export const createBudgetDraft = (): BudgetDraft => ({
  name: '',
  monthlyCHC: '',
  percents: ['50', '75', '90', '100'],
  withForecast: true,
  url: '',
  secret: '',
});

export const toBudgetDraft = ({ name, monthlyCHC, thresholds, webhook }: Budget): BudgetDraft => ({
  name,
  monthlyCHC,
  percents: thresholds.filter((one) => one !== FORECAST).map(String),
  withForecast: thresholds.includes(FORECAST),
  url: webhook?.url ?? '',
  secret: '',
});

/** Invalid percentages are sent unchanged, so that the server reports the error. */
const toThresholds = ({ percents, withForecast }: BudgetDraft) =>
  [
    ...percents.map((text) => (/^\d+$/.test(text) ? Number(text) : text)),
    ...(withForecast ? [FORECAST] : []),
  ] as NonNullable<BudgetCreateBody['thresholds']>;

const toWebhook = ({ url, secret }: BudgetDraft) => ({ url, ...(secret === '' ? {} : { secret }) });

export const toCreateBody = (draft: BudgetDraft): BudgetCreateBody => ({
  ...(draft.name === '' ? {} : { name: draft.name }),
  monthlyCHC: Number(draft.monthlyCHC),
  thresholds: toThresholds(draft),
  ...(draft.url === '' && draft.secret === '' ? {} : { webhook: toWebhook(draft) }),
});

/** Only the changed fields, so that concurrent changes to other fields are kept. */
export function toUpdateBody(draft: BudgetDraft, before: BudgetDraft): BudgetUpdateBody {
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const [thresholds, old] = [toThresholds(draft), toThresholds(before)];
  return {
    ...(draft.name === before.name ? {} : { name: draft.name }),
    ...(Number(draft.monthlyCHC) === before.monthlyCHC ? {} : { monthlyCHC: Number(draft.monthlyCHC) }),
    ...(isSame(thresholds, old) ? {} : { thresholds }),
    ...(isSame(toWebhook(draft), toWebhook(before))
      ? {}
      : { webhook: draft.url === '' && draft.secret === '' ? null : toWebhook(draft) }),
  };
}
