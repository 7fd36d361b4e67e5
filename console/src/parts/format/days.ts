// Billing days: UTC, as YYYY-MM-DD.

const DAY_MS = 86_400_000;

export const toDay = (time: Date): string => time.toISOString().slice(0, 10);
export const addDays = (day: string, days: number): string =>
  toDay(new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS));
const toMonth = (day: string): string => day.slice(0, 7);
export const firstOfMonth = (day: string): string => `${toMonth(day)}-01`;
export const lastOfMonth = (day: string): string => {
  const [year = 0, month = 0] = day.split('-').map(Number);
  return toDay(new Date(Date.UTC(year, month, 0)));
};
export const dayOfMonth = (day: string): number => Number(day.slice(8));

/** Every day from `from` to `to`, both inclusive. */
export function listDays(from: string, to: string): string[] {
  const days: string[] = [];
  for (let day = from; day <= to; day = addDays(day, 1)) days.push(day);
  return days;
}
