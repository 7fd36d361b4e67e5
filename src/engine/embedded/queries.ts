import type { RawInsertFormat, Session } from 'chdb';
import { asException, EngineException } from './exceptions.ts';
import type { Face } from './messages.ts';
import type { Call } from './request.ts';
import { createSessions } from './sessions.ts';
import { literal, refusalOf } from './statement-text.ts';

export interface Result {
  bytes: Uint8Array;
  elapsedSeconds: number;
  rowsRead: number;
  bytesRead: number;
  rowsWritten: number;
  bytesWritten: number;
}

interface Options {
  openSession(): Session;
  readers: number;
  writers: number;
  queryMemoryBytes: number;
}

export type Queries = ReturnType<typeof createQueries>;

const MAX_WAITING = 512;
const KILL_AGAIN_MS = 20;

/** Runs calls in sessions of the right role, some at a time, and stops those that nobody waits for. */
export function createQueries({ openSession, readers, writers, queryMemoryBytes }: Options) {
  const sessions = {
    reader: createSessions({ role: 'reader', openSession, size: readers, maxWaiting: MAX_WAITING }),
    writer: createSessions({ role: 'writer', openSession, size: writers, maxWaiting: MAX_WAITING }),
  };
  const stopper = createSessions({ role: 'stopper', openSession, size: 1, maxWaiting: MAX_WAITING });
  const running = new Map<string, Promise<unknown>>();
  const forever = new AbortController().signal;

  /** The engine gives queries ids of its own; ours stands in a setting, which the list of processes shows. */
  async function stop(queryId: string): Promise<void> {
    const kill = `KILL QUERY WHERE Settings['log_comment'] = ${literal(queryId)} ASYNC`;
    // Once is not enough: it may not have begun, or be between two statements.
    for (let work = running.get(queryId); work && running.get(queryId) === work; ) {
      await stopper.use(forever, (session) => session.queryAsync(kill)).catch(() => {});
      await Promise.race([work, new Promise((resolve) => setTimeout(resolve, KILL_AGAIN_MS))]);
    }
  }

  return {
    async run(face: Face, call: Call, queryId: string, signal: AbortSignal): Promise<Result> {
      if (running.has(queryId)) {
        throw new EngineException(
          216,
          'QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING',
          `Query with id = ${queryId} is already running.`,
        );
      }
      const refusal = face === 'reader' ? refusalOf(call.sql) : undefined;
      if (refusal) throw new EngineException(392, 'QUERY_IS_PROHIBITED', `Refused: ${refusal}.`);
      const isReadOnly = face === 'reader' || call.isReadOnly;
      const prelude = preludeOf(call, { queryId, isReadOnly, queryMemoryBytes });
      const work = sessions[face].use(signal, (session) => execute(session, call, prelude));
      const ended = work.then(
        () => {},
        () => {},
      );
      running.set(queryId, ended);
      const onAbort = () => void stop(queryId);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        return await work;
      } catch (error) {
        throw asException(error);
      } finally {
        signal.removeEventListener('abort', onAbort);
        running.delete(queryId);
      }
    },
    /** Stops everything that runs and closes the sessions. */
    async close(): Promise<void> {
      await Promise.all([...running.keys()].map(stop));
      await Promise.all([sessions.reader.close(), sessions.writer.close(), stopper.close()]);
    },
  };
}

interface Walls {
  queryId: string;
  isReadOnly: boolean;
  queryMemoryBytes: number;
}

/** Values and settings for the statement that follows. What comes last counts, and read-only closes the door. */
function preludeOf({ parameters, settings, database }: Call, { queryId, isReadOnly, queryMemoryBytes }: Walls): string {
  const wanted = Number(settings.findLast(([name]) => name === 'max_memory_usage')?.[1] ?? 0);
  const memory = wanted > 0 ? Math.min(wanted, queryMemoryBytes) : queryMemoryBytes;
  const all: [string, string][] = [
    ...settings.filter(([name]) => name !== 'readonly' && name !== 'max_memory_usage'),
    ['log_comment', queryId],
    ['max_memory_usage', String(memory)],
    ...(isReadOnly || settings.some(([name, value]) => name === 'readonly' && value !== '0')
      ? ([['readonly', '1']] as [string, string][])
      : []),
  ];
  const set = (pairs: [string, string][]) =>
    pairs.length === 0 ? '' : `SET ${pairs.map(([name, value]) => `${name} = ${literal(value)}`).join(', ')};\n`;
  const use = database ? `USE \`${database.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\`;\n` : '';
  return use + set(parameters.map(([name, value]) => [`param_${name}`, value])) + set(all);
}

const RAW_INSERT = /^\s*INSERT\s+INTO\s+(?:TABLE\s+)?([\w.]+)\s*(?:\(([\w\s.,`]*)\)\s*)?FORMAT\s+(\w+)[\s;]*$/i;
const RAW_FORMATS = new Set<string>([
  'JSONEachRow',
  'JSONCompactEachRow',
  'CSV',
  'CSVWithNames',
  'TSV',
  'TabSeparated',
]);

async function execute(session: Session, call: Call, prelude: string): Promise<Result> {
  const [, table, columns, format = ''] = RAW_INSERT.exec(call.sql) ?? [];
  if (table !== undefined && RAW_FORMATS.has(format)) {
    // The rows go to the engine as they came, without becoming text in between.
    await session.queryAsync(prelude);
    const names = columns?.split(',').map((name) => name.trim().replaceAll('`', ''));
    const summary = await session.insert({
      table,
      values: call.data,
      format: format as RawInsertFormat,
      ...(names ? { columns: names } : {}),
    });
    const { rowsWritten, bytesWritten, elapsed } = summary;
    return { bytes: new Uint8Array(), elapsedSeconds: elapsed, rowsRead: 0, bytesRead: 0, rowsWritten, bytesWritten };
  }
  const text = call.data.length > 0 ? `${call.sql}\n${call.data.toString('utf8')}` : call.sql;
  const result = await session.queryAsync(prelude + text, { format: call.format });
  return {
    bytes: result.bytes(),
    elapsedSeconds: result.elapsed,
    rowsRead: result.rowsRead,
    bytesRead: result.bytesRead,
    rowsWritten: 0,
    bytesWritten: 0,
  };
}
