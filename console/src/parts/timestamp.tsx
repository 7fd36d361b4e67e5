import { useEffect, useState } from 'react';
import { formatAgo, formatDate, formatFullTime, formatTime, formatUtc } from './format.ts';

const MINUTE_MS = 60_000;

/** The current time, updated every minute, so that relative times stay correct. */
export function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
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
