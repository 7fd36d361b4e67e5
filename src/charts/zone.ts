/** A time zone by its IANA name; `UTC` for the one without surprises. */
export interface Zone {
  name: string;
  /** What a clock on the wall shows minus UTC, in milliseconds, at a moment. */
  offsetAt(ms: number): number;
}

const DAY_MS = 86_400_000;

/** Undefined when nobody knows a zone of that name. */
export function findZone(name: string): Zone | undefined {
  if (name === 'UTC') return { name, offsetAt: () => 0 };
  // Names only: Intl also takes offsets such as +02:00, which the engine does not.
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

/** Days since 1970-01-01 on the zone's own calendar. */
export function localDay(zone: Zone, ms: number): number {
  return Math.floor((ms + zone.offsetAt(ms)) / DAY_MS);
}

/**
 * The moment at which a local day begins; where midnight is skipped, the first moment after it. A day that a zone left
 * out altogether, as Samoa did with 2011-12-30, begins and ends with the next one's beginning.
 */
export function startOfLocalDay(zone: Zone, day: number): number {
  const wall = day * DAY_MS;
  // An offset may differ before and after the guess; the earliest moment that opens the day, or a later one, is right.
  const guesses = [
    wall - zone.offsetAt(wall - DAY_MS),
    wall - zone.offsetAt(wall),
    wall - zone.offsetAt(wall + DAY_MS),
  ];
  const opening = guesses.filter((ms) => localDay(zone, ms) >= day && localDay(zone, ms - 1) < day);
  return Math.min(...(opening.length > 0 ? opening : guesses));
}
