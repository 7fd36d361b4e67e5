import { useEffect, useReducer } from 'react';
import { formatAgo, formatDate, formatFullTime, formatTime, formatUtc } from './format.ts';

const MINUTE_MS = 60_000;

/** The time of this rendering, which happens at least once a minute, so that relative times and expiries stay correct. */
export function useNow(): Date {
  const [, render] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const timer = setInterval(render, MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  return new Date();
}

interface Props {
  /** ISO 8601. */
  at: string;
  /** `full`: with weekday, seconds and time zone. */
  show?: 'time' | 'date' | 'ago' | 'full';
}

/** A time in the local time zone. The tooltip has the complete date with the time zone, and UTC. */
export function Timestamp({ at, show = 'time' }: Props) {
  const now = useNow();
  const time = new Date(at);
  return (
    <time dateTime={at} title={`${formatFullTime(time)} · ${formatUtc(time)}`}>
      {show === 'ago' ? formatAgo(time, now) : FORMATS[show](time)}
    </time>
  );
}

const FORMATS = { time: formatTime, date: formatDate, full: formatFullTime };
