// Formats follow the locale of the browser. Times are in its time zone, except in functions for UTC or billing days.

const exactCredits = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 6 });
const roundCredits = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const smallCredits = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 2, maximumFractionDigits: 6 });
const plainNumber = new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 });
const localTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const fullTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const localDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
/** Billing days are UTC days. */
const billDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const billDate = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const billMonth = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

/** All decimals: at least two, at most six. */
export const formatExactCredits = (chc: number): string => exactCredits.format(chc);

/** Two decimals; two significant digits for amounts below 0.01. */
export const formatCredits = (chc: number): string =>
  chc !== 0 && Math.abs(chc) < 0.01 ? smallCredits.format(chc) : roundCredits.format(chc);

export const formatNumber = (value: number): string => plainNumber.format(value);

/** At most one decimal: "2%", "8.9%". */
export const formatPercent = (percent: number): string => {
  const rounded = Math.round(percent * 10) / 10;
  return percent !== 0 && rounded === 0 ? '<0.1%' : `${formatNumber(rounded)}%`;
};

export const formatSign = (change: number): string => (change > 0 ? '+' : change < 0 ? '−' : '±');

/** "+1.5%", "−2%". */
export const formatPercentChange = (percent: number): string =>
  `${formatSign(percent)}${formatPercent(Math.abs(percent))}`;

export const formatTime = (time: Date): string => localTime.format(time);
/** With weekday, year, seconds and time zone. */
export const formatFullTime = (time: Date): string => fullTime.format(time);
export const formatDate = (time: Date): string => localDay.format(time);
export const formatUtc = (time: Date): string => `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** `day` is YYYY-MM-DD. */
export const formatBillDay = (day: string): string => billDay.format(new Date(`${day}T00:00:00Z`));
/** With the year. */
export const formatBillDate = (day: string): string => billDate.format(new Date(`${day}T00:00:00Z`));
/** `month` is YYYY-MM. */
export const formatBillMonth = (month: string): string => billMonth.format(new Date(`${month}-01T00:00:00Z`));

const RELATIVE_UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** "5 minutes ago", "in 3 days". */
export function formatAgo(time: Date, now: Date): string {
  const seconds = (time.getTime() - now.getTime()) / 1000;
  const [unit, size] = RELATIVE_UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return unit === 'second' ? 'just now' : relative.format(Math.trunc(seconds / size), unit);
}

export const formatMemory = (gb: number): string => `${formatNumber(gb)} GB`;

export function formatIdle(isOn: boolean, minutes: number): string {
  return isOn ? `Idles after ${formatNumber(minutes)} min` : 'Always on';
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;

/** `readyReplicas` → "Ready replicas". */
export function toWords(name: string): string {
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
