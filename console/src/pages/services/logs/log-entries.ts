/** An entry of the log of ClickHouse: `2026.11.17 15:27:31.299 [ 14505 ] {id} <Error> Component: text`. */
export interface LogEntry {
  /** As in the log: local time of the server. */
  time: string | undefined;
  level: string | undefined;
  text: string;
  /** The lines that follow, such as a stack trace. */
  more: string[];
}

const HEAD = /^(\d{4}\.\d\d\.\d\d \d\d:\d\d:\d\d\.\d+) \[ \d+ \] (?:\{[^}]*\} )?<(\w+)> (.*)$/;

/** Oldest first, as the lines. A line without a head belongs to the entry before it. */
export function toLogEntries(lines: readonly string[]): LogEntry[] {
  const entries: LogEntry[] = [];
  for (const line of lines) {
    const [, time, level, text] = HEAD.exec(line) ?? [];
    const last = entries.at(-1);
    if (text !== undefined) entries.push({ time, level, text, more: [] });
    else if (last) last.more.push(line);
    else entries.push({ time: undefined, level: undefined, text: line, more: [] });
  }
  return entries;
}

const BAD = ['Fatal', 'Critical', 'Error'];

export const getLevelTone = (level: string | undefined): 'bad' | 'warn' | 'quiet' =>
  level === undefined ? 'quiet' : BAD.includes(level) ? 'bad' : level === 'Warning' ? 'warn' : 'quiet';
