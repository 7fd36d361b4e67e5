/** A time zone by its IANA name. */
export interface Zone {
  name: string;
  /** Local time minus UTC at this time, in milliseconds. */
  offsetAt(ms: number): number;
}

const DAY_MS = 86_400_000;

/** Undefined if the name is unknown. */
export function findZone(name: string): Zone | undefined {
  if (name === 'UTC') return { name, offsetAt: () => 0 };
  // Only names: Intl also accepts offsets such as +02:00, which ClickHouse does not.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{1,63}$/.test(name)) return undefined;
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    return { name: format.resolvedOptions().timeZone === 'UTC' ? 'UTC' : name, offsetAt: (ms) => offset(format, ms) };
  } catch {
    return undefined;
  }
}

function offset(format: Intl.DateTimeFormat, ms: number): number {
  const part = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)])) as Record<
    'year' | 'month' | 'day' | 'hour' | 'minute' | 'second',
    number
  >;
  const shown = Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second);
  return shown - Math.floor(ms / 1000) * 1000;
}

/** Days since 1970-01-01 in local time. */
export function localDay(zone: Zone, ms: number): number {
  return Math.floor((ms + zone.offsetAt(ms)) / DAY_MS);
}

/**
 * The start of a local day. If a clock change skips midnight, the first time after it. A day that a zone skipped (Samoa
 * skipped 2011-12-30) starts and ends at the start of the next day.
 */
export function startOfLocalDay(zone: Zone, day: number): number {
  const localMidnight = day * DAY_MS;
  const before = zone.offsetAt(localMidnight - DAY_MS);
  const after = zone.offsetAt(localMidnight + DAY_MS);
  // The usual case: no clock change nearby. Each lookup is slow.
  if (before === after) return localMidnight - before;
  const candidates = [before, zone.offsetAt(localMidnight), after].map((offsetMs) => localMidnight - offsetMs);
  const starts = candidates.filter((ms) => localDay(zone, ms) >= day && localDay(zone, ms - 1) < day);
  return Math.min(...(starts.length > 0 ? starts : candidates));
}
