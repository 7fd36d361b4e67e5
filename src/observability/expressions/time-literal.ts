const SHAPE =
  /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d{2}:?\d{2})?)?$/i;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const EARLIEST = Date.UTC(1900, 0, 1);
/** The last whole year that nanoseconds since 1970 can express. */
const LATEST = Date.UTC(2262, 0, 1);

/** A time in UTC as ClickHouse parses it (`2026-11-15 12:00:00.000000000`), or a whole day. */
interface Moment {
  text: string;
  /** Set for a date without a time: the end of the day, exclusive. */
  dayEnd?: string;
}

/** Reads an ISO 8601 date or date-time, with a space or a T; without an offset it is UTC. */
export function parseMoment(written: string): Moment | undefined {
  const match = SHAPE.exec(written);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second = '00', fraction = '', offset] = match;
  const date = `${year}-${month}-${day}`;
  const midnight = Date.parse(`${date}T00:00:00Z`);
  // Date.parse takes 30 February as 2 March.
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== date) return undefined;
  if (hour === undefined) {
    const [text, dayEnd] = [format(midnight, ''), format(midnight + DAY, '')];
    return text === undefined || dayEnd === undefined ? undefined : { text, dayEnd };
  }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const shift = offsetMinutes(offset);
  if (shift === undefined) return undefined;
  const instant = Date.parse(`${date}T${hour}:${minute}:${second}Z`) - shift * MINUTE;
  const text = format(instant, fraction);
  return text === undefined ? undefined : { text };
}

function offsetMinutes(offset: string | undefined): number | undefined {
  if (offset === undefined || offset === 'Z' || offset === 'z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(-2));
  if (hours > 14 || minutes > 59) return undefined;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

function format(instant: number, fraction: string): string | undefined {
  if (instant < EARLIEST || instant > LATEST) return undefined;
  return `${new Date(instant).toISOString().slice(0, 19).replace('T', ' ')}.${fraction.padEnd(9, '0')}`;
}
