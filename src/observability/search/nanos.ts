import { parseMoment } from '../charts/time-range.ts';

const NANOS_PER_MS = 1_000_000n;
const NANOS_PER_SECOND = 1_000_000_000n;
const FRACTION = /[.,](\d{1,9})/;

export const toNanos = (ms: number): bigint => BigInt(ms) * NANOS_PER_MS;

/** The millisecond that contains the time. */
export const toMs = (nanos: bigint): number => Number(nanos / NANOS_PER_MS);

/** As `parseMoment`, with nanoseconds. */
export function parseNanos(path: string, value: string): bigint {
  const second = toNanos(parseMoment(path, value)) / NANOS_PER_SECOND;
  const fraction = FRACTION.exec(value)?.[1];
  if (fraction === undefined) return toNanos(parseMoment(path, value));
  return second * NANOS_PER_SECOND + BigInt(fraction.padEnd(9, '0'));
}

/** `2026-11-18T01:02:03.123456789Z`. Times before 1970 are negative. */
export function formatNanos(time: bigint): string {
  const nanos = ((time % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND;
  const second = new Date(toMs(time - nanos)).toISOString().slice(0, -5);
  return `${second}.${String(nanos).padStart(9, '0')}Z`;
}
