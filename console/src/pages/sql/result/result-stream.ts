import { openStream, type StreamRequest } from '../../../api/open-stream.ts';
import { type ResultColumn, type ResultRow, toColumn } from './values.ts';

/** The text of a result that is kept in the page, in characters. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

export interface RunError {
  message: string;
  /** As ClickHouse names it: `SYNTAX_ERROR`. */
  name: string | undefined;
  /** Offset in the statement, in characters. */
  position: number | undefined;
}

/** What is known of a result so far. The rows are appended to the same array. */
export interface Received {
  isWaking: boolean;
  columns: ResultColumn[] | undefined;
  rows: ResultRow[];
  totals: ResultRow | undefined;
  rowsRead: number;
  bytesRead: number;
  /** The estimate of the rows to read; 0 if there is none. */
  totalRows: number;
  /** Why rows are missing. */
  cut: 'rows' | 'bytes' | undefined;
  error: RunError | undefined;
  hasEnded: boolean;
}

export const createReceived = (): Received => ({
  isWaking: false,
  columns: undefined,
  rows: [],
  totals: undefined,
  rowsRead: 0,
  bytesRead: 0,
  totalRows: 0,
  cut: undefined,
  error: undefined,
  hasEnded: false,
});

type Count = number | string;

interface Line {
  waking?: true;
  progress?: { read_rows?: Count; read_bytes?: Count; total_rows_to_read?: Count };
  meta?: { name: string; type: string }[];
  row?: ResultRow;
  totals?: ResultRow;
  /** The position is from 1. */
  exception?: string | { name?: string | null; message: string; position?: number | null };
  end?: { rowsRead: number; bytesRead: number; truncated: boolean };
}

/** Adds a line of the response to what is known. */
export function receiveLine(received: Received, text: string): void {
  const line = JSON.parse(text) as Line;
  received.isWaking = line.waking === true;
  if (line.row) received.rows.push(line.row);
  if (line.meta) received.columns = line.meta.map(toColumn);
  if (line.totals) received.totals = line.totals;
  if (line.progress) {
    // Each line has the sums so far; the last one may have none.
    received.rowsRead = Math.max(received.rowsRead, Number(line.progress.read_rows ?? 0));
    received.bytesRead = Math.max(received.bytesRead, Number(line.progress.read_bytes ?? 0));
    received.totalRows = Math.max(received.totalRows, Number(line.progress.total_rows_to_read ?? 0));
  }
  if (line.exception !== undefined) received.error = toRunError(line.exception);
  if (line.end) {
    const { rowsRead, bytesRead, truncated } = line.end;
    Object.assign(received, { rowsRead, bytesRead, hasEnded: true });
    if (truncated) received.cut = 'rows';
  }
}

function toRunError(exception: NonNullable<Line['exception']>): RunError {
  const { message, name, position } = typeof exception === 'string' ? { message: exception } : exception;
  return { message, name: name ?? undefined, position: typeof position === 'number' ? position - 1 : undefined };
}

/** Reads the response until it ends, or until more would not fit into the page. `onChange` is called after each part. */
export async function readResult(request: StreamRequest, received: Received, onChange: () => void): Promise<void> {
  let text = '';
  let characters = 0;
  for await (const chunk of await openStream(request, 'application/x-ndjson')) {
    characters += chunk.length;
    const lines = (text + chunk).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) if (line !== '') receiveLine(received, line);
    onChange();
    if (characters > MAX_CHARACTERS) {
      received.cut = 'bytes';
      return;
    }
  }
  if (text !== '') receiveLine(received, text);
  if (!received.hasEnded && !received.error)
    received.error = {
      message: 'The connection ended before the result was complete.',
      name: undefined,
      position: undefined,
    };
}
