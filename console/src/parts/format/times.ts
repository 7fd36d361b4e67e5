// Times on charts: 24-hour clock, in the selected time zone.

const formatters = new Map<string, Intl.DateTimeFormat>();

function dateFormatter(zone: string, kind: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const id = `${zone} ${kind}`;
  const found = formatters.get(id) ?? new Intl.DateTimeFormat(undefined, { ...options, timeZone: zone });
  formatters.set(id, found);
  return found;
}

const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const DAY = { day: 'numeric', month: 'short' } as const;

const formatClock = (ms: number, zone: string): string => dateFormatter(zone, 'clock', CLOCK).format(ms);
const formatClockSeconds = (ms: number, zone: string): string =>
  dateFormatter(zone, 'seconds', { ...CLOCK, second: '2-digit' }).format(ms);
const formatDay = (ms: number, zone: string): string => dateFormatter(zone, 'day', DAY).format(ms);
export const formatDateTime = (ms: number, zone: string): string =>
  dateFormatter(zone, 'moment', { ...DAY, ...CLOCK, second: '2-digit' }).format(ms);
export const formatShortDateTime = (ms: number, zone: string): string =>
  dateFormatter(zone, 'short', { ...DAY, ...CLOCK }).format(ms);

const DAY_S = 86_400;

/** Labels of a time axis with ticks `step` seconds apart: the day at its first tick, else the time. */
export function formatAxisLabels(ticks: readonly number[], step: number, zone: string): string[] {
  let lastDay = '';
  return ticks.map((seconds) => {
    const ms = seconds * 1000;
    const day = formatDay(ms, zone);
    if (step >= DAY_S) return day;
    const isNewDay = lastDay !== '' && day !== lastDay;
    lastDay = day;
    return isNewDay ? day : step < 60 ? formatClockSeconds(ms, zone) : formatClock(ms, zone);
  });
}
