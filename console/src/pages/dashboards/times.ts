// Times as dashboards show them: 24 hours, in the zone that was chosen.

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(zone: string, kind: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const id = `${zone} ${kind}`;
  const found = formatters.get(id) ?? new Intl.DateTimeFormat(undefined, { ...options, timeZone: zone });
  formatters.set(id, found);
  return found;
}

const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const DAY = { day: 'numeric', month: 'short' } as const;

export const clockText = (ms: number, zone: string): string => formatterOf(zone, 'clock', CLOCK).format(ms);
export const secondsText = (ms: number, zone: string): string =>
  formatterOf(zone, 'seconds', { ...CLOCK, second: '2-digit' }).format(ms);
export const dayText = (ms: number, zone: string): string => formatterOf(zone, 'day', DAY).format(ms);
export const momentText = (ms: number, zone: string): string =>
  formatterOf(zone, 'moment', { ...DAY, ...CLOCK, second: '2-digit' }).format(ms);
export const shortText = (ms: number, zone: string): string =>
  formatterOf(zone, 'short', { ...DAY, ...CLOCK }).format(ms);

const DAY_S = 86_400;

/** What stands below the marks of a time axis, `step` seconds apart: the day where one begins, else the time. */
export function axisTexts(marks: readonly number[], step: number, zone: string): string[] {
  let lastDay = '';
  return marks.map((seconds) => {
    const ms = seconds * 1000;
    const day = dayText(ms, zone);
    if (step >= DAY_S) return day;
    const isNewDay = lastDay !== '' && day !== lastDay;
    lastDay = day;
    return isNewDay ? day : step < 60 ? secondsText(ms, zone) : clockText(ms, zone);
  });
}
