export const PERIODS = ['1h', '24h', '7d', '30d'] as const;
export type Period = (typeof PERIODS)[number];
export const DEFAULT_PERIOD: Period = '1h';

const HOUR_MS = 3_600_000;
export const PERIOD_MS: Record<Period, number> = {
  '1h': HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  '30d': 30 * 24 * HOUR_MS,
};

/** URL parameters of the page. */
interface TelemetrySearch {
  last?: Period;
}

export function parseTelemetrySearch({ last }: Record<string, unknown>): TelemetrySearch {
  const period = PERIODS.find((one) => one === last);
  return period ? { last: period } : {};
}
