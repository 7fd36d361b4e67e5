import { useEffect, useState } from 'react';
import { formatAgo, formatDate, formatTime, formatUtc } from './format.ts';

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
  show?: 'time' | 'date' | 'ago';
}

/** A time in the local time zone, with UTC as tooltip. */
export function Timestamp({ at, show = 'time' }: Props) {
  const now = useNow();
  const time = new Date(at);
  const local = show === 'date' ? formatDate(time) : formatTime(time);
  return (
    <time dateTime={at} title={show === 'ago' ? `${formatTime(time)} · ${formatUtc(time)}` : formatUtc(time)}>
      {show === 'ago' ? formatAgo(time, now) : local}
    </time>
  );
}
