import type { RawInsertFormat, Session } from 'chdb';
import { createQueue } from '../../kernel/queue.ts';
import type { Role } from './configuration.ts';
import { EngineException, toEngineException } from './exceptions.ts';
import type { Access } from './messages.ts';
import type { Call } from './request.ts';
import { findProhibition, toLiteral } from './statement-text.ts';

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

/** Runs calls with the privileges of their user, a limited number at a time, and stops those whose client disconnected. */
export function createQueryRunner({ openSession, readers, writers, queryMemoryBytes }: Options) {
  const createRoleQueue = (concurrency: number) =>
    createQueue({
      concurrency,
      maxWaiting: MAX_WAITING,
      onFull: () => new EngineException(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'Too many queries are waiting.'),
      onCanceled: () => new EngineException(394, 'QUERY_WAS_CANCELLED', 'Query was cancelled.'),
    });
  const queues = { reader: createRoleQueue(readers), writer: createRoleQueue(writers), stopper: createRoleQueue(1) };
  const running = new Map<string, Promise<unknown>>();

  /**
   * Each call gets a new session, because settings stay on a session and a read-only session remains read-only.
   * Opening one takes a quarter of a millisecond.
   */
  async function inSession<T>(
    role: Role,
    signal: AbortSignal | undefined,
    work: (session: Session) => Promise<T>,
  ): Promise<T> {
    return queues[role].run(async () => {
      const session = openSession();
      try {
        return await work(session);
      } finally {
        session.close();
      }
    }, signal);
  }

  /** The engine assigns its own query ids; ours is in the setting `log_comment`, which system.processes contains. */
  async function stop(queryId: string): Promise<void> {
    const kill = `SET ROLE stopper; KILL QUERY WHERE Settings['log_comment'] = ${toLiteral(queryId)} ASYNC`;
    // Repeated: the query may not have started yet, or may be between two statements.
    for (let work = running.get(queryId); work && running.get(queryId) === work; ) {
      await inSession('stopper', undefined, (session) => session.queryAsync(kill)).catch(() => {});
      await Promise.race([work, new Promise((resolve) => setTimeout(resolve, KILL_AGAIN_MS))]);
    }
  }

  return {
    async run(access: Access, call: Call, queryId: string, signal?: AbortSignal): Promise<Result> {
      if (running.has(queryId)) {
        throw new EngineException(
          216,
          'QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING',
          `Query with id = ${queryId} is already running.`,
        );
      }
      const prohibition = access === 'reader' ? findProhibition(call.sql, call.parameters) : undefined;
      if (prohibition) throw new EngineException(392, 'QUERY_IS_PROHIBITED', `Query is not allowed: ${prohibition}.`);
      const isReadOnly = access === 'reader' || call.isReadOnly;
      const prelude = createPrelude(call, { role: access, queryId, isReadOnly, queryMemoryBytes });
      const work = inSession(access, signal, (session) => execute(session, call, prelude));
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
    /** Stops all running queries. */
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

/** Sets role, parameters and settings for the next statement. `readonly` comes last: nothing can be set after it. */
function createPrelude(
  { parameters, settings, database }: Call,
  { role, queryId, isReadOnly, queryMemoryBytes }: QueryLimits,
): string {
  const getNumber = (setting: string) => Number(settings.findLast(([name]) => name === setting)?.[1] ?? 0);
  const memory = Math.min(getNumber('max_memory_usage') || queryMemoryBytes, queryMemoryBytes);
  const assignments = [
    ...parameters.map(([name, value]) => [`param_${name}`, value]),
    ...settings.filter(([name]) => !RESERVED_SETTINGS.has(name)),
    ['log_comment', queryId],
    ['max_memory_usage', String(memory)],
    ...(isReadOnly || getNumber('readonly') > 0 ? [['readonly', '1']] : []),
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
    // The rows are passed on as bytes, without decoding them.
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
