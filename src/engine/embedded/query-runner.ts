import type { RawInsertFormat, Session } from 'chdb';
import type { Role } from './configuration.ts';
import { EngineException, toEngineException } from './exceptions.ts';
import type { Access } from './messages.ts';
import type { Call } from './request.ts';
import { findProhibition, toLiteral } from './statement-text.ts';
import { createTurns } from './turns.ts';

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

export type QueryRunner = ReturnType<typeof createQueryRunner>;

const MAX_WAITING = 512;
const KILL_AGAIN_MS = 20;

/** Runs calls with the rights of their face, some at a time, and stops those that nobody waits for. */
export function createQueryRunner({ openSession, readers, writers, queryMemoryBytes }: Options) {
  const turns = {
    reader: createTurns({ size: readers, maxWaiting: MAX_WAITING }),
    writer: createTurns({ size: writers, maxWaiting: MAX_WAITING }),
    stopper: createTurns({ size: 1, maxWaiting: MAX_WAITING }),
  };
  const running = new Map<string, Promise<unknown>>();

  /**
   * Each call has a session of its own: whatever a statement sets stays on its session, and one that was made read-only
   * stays so. Opening one takes a quarter of a millisecond.
   */
  async function inSession<T>(
    role: Role,
    signal: AbortSignal | undefined,
    work: (session: Session) => Promise<T>,
  ): Promise<T> {
    return turns[role](signal, async () => {
      const session = openSession();
      try {
        return await work(session);
      } finally {
        session.close();
      }
    });
  }

  /** The engine gives queries ids of its own; ours stands in a setting, which the list of processes shows. */
  async function stop(queryId: string): Promise<void> {
    const kill = `SET ROLE stopper; KILL QUERY WHERE Settings['log_comment'] = ${toLiteral(queryId)} ASYNC`;
    // Once is not enough: it may not have begun, or be between two statements.
    for (let work = running.get(queryId); work && running.get(queryId) === work; ) {
      await inSession('stopper', undefined, (session) => session.queryAsync(kill)).catch(() => {});
      await Promise.race([work, new Promise((resolve) => setTimeout(resolve, KILL_AGAIN_MS))]);
    }
  }

  return {
    async run(face: Access, call: Call, queryId: string, signal?: AbortSignal): Promise<Result> {
      if (running.has(queryId)) {
        throw new EngineException(
          216,
          'QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING',
          `Query with id = ${queryId} is already running.`,
        );
      }
      const refusal = face === 'reader' ? findProhibition(call.sql, call.parameters) : undefined;
      if (refusal) throw new EngineException(392, 'QUERY_IS_PROHIBITED', `Refused: ${refusal}.`);
      const isReadOnly = face === 'reader' || call.isReadOnly;
      const prelude = createPrelude(call, { role: face, queryId, isReadOnly, queryMemoryBytes });
      const work = inSession(face, signal, (session) => execute(session, call, prelude));
      const ended = work.then(
        () => {},
        () => {},
      );
      running.set(queryId, ended);
      const onAbort = () => void stop(queryId);
      signal?.addEventListener('abort', onAbort, { once: true });
      try {
        return await work;
      } catch (error) {
        throw toEngineException(error);
      } finally {
        signal?.removeEventListener('abort', onAbort);
        running.delete(queryId);
      }
    },
    /** Stops everything that runs. */
    async close(): Promise<void> {
      await Promise.all([...running.keys()].map(stop));
    },
  };
}

interface QueryLimits {
  role: Role;
  queryId: string;
  isReadOnly: boolean;
  queryMemoryBytes: number;
}

const RESERVED_SETTINGS = new Set(['log_comment', 'max_memory_usage', 'readonly']);

/** Role, values and settings for the statement that follows; read-only comes last and closes the door. */
function createPrelude(
  { parameters, settings, database }: Call,
  { role, queryId, isReadOnly, queryMemoryBytes }: QueryLimits,
): string {
  const given = (wanted: string) => Number(settings.findLast(([name]) => name === wanted)?.[1] ?? 0);
  const memory = Math.min(given('max_memory_usage') || queryMemoryBytes, queryMemoryBytes);
  const assignments = [
    ...parameters.map(([name, value]) => [`param_${name}`, value]),
    ...settings.filter(([name]) => !RESERVED_SETTINGS.has(name)),
    ['log_comment', queryId],
    ['max_memory_usage', String(memory)],
    ...(isReadOnly || given('readonly') > 0 ? [['readonly', '1']] : []),
  ];
  const set = assignments.map(([name = '', value = '']) => `${name} = ${toLiteral(value)}`).join(', ');
  const use = database === undefined ? '' : `USE \`${toLiteral(database).slice(1, -1).replaceAll('`', '\\`')}\`;\n`;
  return `SET ROLE ${role};\n${use}SET ${set};\n`;
}

const RAW_INSERT = /^\s*INSERT\s+INTO\s+(?:TABLE\s+)?([\w.]+)\s*(?:\(([\w\s.,`]*)\)\s*)?FORMAT\s+(\w+)[\s;]*$/i;
const RAW_FORMATS = new Set<string>([
  'JSONEachRow',
  'JSONCompactEachRow',
  'CSV',
  'CSVWithNames',
  'TSV',
  'TabSeparated',
  'TabSeparatedWithNames',
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
