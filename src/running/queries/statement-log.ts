import type { Logger } from 'pino';
import { AppError } from '../../kernel/errors.ts';
import { createTimeOrderedIds } from '../../kernel/ids.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';
import type { Actor } from '../../management/audit/activity.ts';
import type { Audit } from '../../management/audit/audit.ts';
import type { Organizations } from '../../management/organizations/organizations.ts';
import type { SqlRole } from '../../management/services/driver.ts';
import type { State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import { MAX_STATEMENT_CHARACTERS } from '../proxy/request-url.ts';
import { findKind, isRead } from '../proxy/statement.ts';
import type { Failure } from './clickhouse-failure.ts';
import { cutText } from './cut-text.ts';
import { type HistoryEntry, insertHistory, listHistory, trimHistory } from './history-store.ts';
import { deleteIntents, insertIntent, listIntents } from './intent-store.ts';
import { toKeptStatement, toShownStatement } from './shown-statement.ts';

/** A statement that has ended. */
interface EndedStatement {
  caller: { organizationId: string; credentialId: string; actor: Actor; role: SqlRole };
  serviceId: string;
  queryId: string;
  sql: string;
  database: string | undefined;
  startedAt: number;
  durationMs: number;
  /** The format of the file, for a download. */
  file?: string | undefined;
  /** Unknown for a download. */
  rowsRead?: number;
  bytesRead?: number;
  failure?: Pick<Failure, 'name' | 'message'> | undefined;
  /** Set if it was stored before it was sent. */
  intentId?: string | undefined;
}

type StartedStatement = Pick<EndedStatement, 'caller' | 'serviceId' | 'queryId' | 'sql' | 'startedAt'>;

interface Options {
  state: State;
  audit: Audit;
  organizations: Organizations;
  log: Pick<Logger, 'warn'>;
  /** Identifies the data directory of the server. */
  getDirectoryId(): string;
}

/** Statements that have ended and are not stored. Further ones wait before they start. */
const MAX_PENDING = 1000;
const STATEMENTS_PER_WRITE = 100;
/** Statements that only read share a commit if they end within this time. A crash loses them. */
const RECORD_AFTER_MS = 250;
const RETRY_MS = SECOND_MS;
/** Of one credential on one service. */
export const MAX_HISTORY = 200;
const MAX_HISTORY_BYTES = 16 * 1024;
const MAX_ERROR_BYTES = 1024;
const UNKNOWN_OUTCOME = 'The server stopped before the end of the statement; it may have been run';

export type StatementLog = ReturnType<typeof createStatementLog>;

/**
 * Stores each statement after its end: an activity, and an entry in the history of its credential. No statement waits for it.
 * One that may write is also stored before it is sent, so that a server that is killed cannot lose it.
 */
export function createStatementLog({ state, audit, organizations, log, getDirectoryId }: Options) {
  const nextId = createTimeOrderedIds();
  let pending: EndedStatement[] = [];
  const loop = createBackgroundLoop({
    run: flush,
    onError(error) {
      log.warn({ reason: (error as Error).message }, 'failed to store the activities of statements');
      loop.schedule(RETRY_MS);
    },
  });

  async function flush(): Promise<void> {
    while (pending.length > 0) {
      const organizationId = pending[0]?.caller.organizationId ?? '';
      const isOwn = ({ caller }: EndedStatement) => caller.organizationId === organizationId;
      const batch = pending.filter(isOwn).slice(0, STATEMENTS_PER_WRITE);
      await store(organizationId, batch);
      pending = pending.filter((statement) => !batch.includes(statement));
    }
  }

  async function store(organizationId: string, batch: readonly EndedStatement[]): Promise<void> {
    try {
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const { keepsSqlLiterals } = await organizations.get(organizationId, tx);
        const show = keepsSqlLiterals ? toKeptStatement : toShownStatement;
        // Calls of one turn share a statement.
        await Promise.all(batch.map((statement) => recordActivity(tx, statement, show(statement.sql))));
        await insertHistory(
          tx,
          batch.map((statement) => ({ owner: getOwner(statement), entry: toHistoryEntry(statement) })),
        );
        const owners = new Map(batch.map((statement) => [formatOwner(statement), getOwner(statement)]));
        for (const owner of owners.values()) await trimHistory(tx, owner, MAX_HISTORY);
        await deleteIntents(
          tx,
          organizationId,
          batch.flatMap(({ intentId }) => intentId ?? []),
        );
      });
    } catch (error) {
      // The organization was deleted, and its audit log with it.
      if (!(error instanceof AppError && error.code === 'not_found')) throw error;
    }
  }

  const recordActivity = (tx: Db, ended: EndedStatement, statement: string): Promise<void> =>
    audit.record(tx, ended.caller.actor, {
      organizationId: ended.caller.organizationId,
      type: 'service_sql',
      resource: { type: 'service', id: ended.serviceId },
      serviceId: ended.serviceId,
      after: {
        statement,
        access: getAccess(ended),
        queryId: ended.queryId,
        ...(ended.file !== undefined && { download: ended.file }),
        ...getFigures(ended),
        // The message of an error of ClickHouse repeats parts of the statement.
        ...(ended.failure && { error: ended.failure.name ?? ended.failure.message }),
      },
    });

  const toHistoryEntry = (ended: EndedStatement): HistoryEntry => ({
    id: nextId(ended.startedAt),
    startedAt: ended.startedAt,
    sql: cutText(ended.sql, MAX_HISTORY_BYTES),
    database: ended.database ?? '',
    access: getAccess(ended),
    ...getFigures(ended),
    error: ended.failure ? cutText(ended.failure.message, MAX_ERROR_BYTES) : null,
  });

  /** Returns false if there are no more. */
  async function recoverSome(directoryId: string): Promise<boolean> {
    const intents = await listIntents(state.db, directoryId, STATEMENTS_PER_WRITE);
    for (const { organizationId, id, serviceId, actor, queryId, statement } of intents)
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        await audit.record(tx, actor, {
          organizationId,
          type: 'service_sql',
          resource: { type: 'service', id: serviceId },
          serviceId,
          after: { statement, access: 'write', queryId, error: UNKNOWN_OUTCOME },
        });
        await deleteIntents(tx, organizationId, [id]);
      });
    return intents.length === STATEMENTS_PER_WRITE;
  }

  return {
    /** Resolves once a statement that may write is stored: it may be sent now. Returns what `record` needs. */
    async begin(statement: StartedStatement): Promise<string | undefined> {
      if (onlyReads(statement)) return undefined;
      const { caller, serviceId, queryId, startedAt } = statement;
      const { organizationId, actor } = caller;
      const id = nextId(startedAt);
      const shown = toShownStatement(statement.sql);
      const intent = { organizationId, id, serviceId, startedAt, actor, queryId, statement: shown };
      await state.write((tx) => insertIntent(tx, { ...intent, directoryId: getDirectoryId() }));
      return id;
    },

    /** At the start of a server, before it takes statements: those of the process before it, which was killed. */
    async recover(): Promise<void> {
      const directoryId = getDirectoryId();
      while (await recoverSome(directoryId));
    },

    record(statement: EndedStatement): void {
      pending.push(statement);
      if (!onlyReads(statement)) void loop.trigger();
      else if (!loop.isScheduled()) loop.schedule(RECORD_AFTER_MS);
    },

    /** Resolves at once, unless the store is far behind. */
    async waitForRoom(): Promise<void> {
      if (pending.length >= MAX_PENDING) await loop.trigger();
      if (pending.length >= MAX_PENDING)
        throw new AppError('unavailable', 'The activities of earlier statements cannot be stored at the moment');
    },

    /** The last statements of a credential, newest first. */
    listHistory: (owner: Parameters<typeof listHistory>[1], limit: number): Promise<HistoryEntry[]> =>
      listHistory(state.db, owner, limit),

    /** Stores everything recorded so far. */
    async close(): Promise<void> {
      await loop.trigger();
      await loop.close();
    },
  };
}

/** The admin may write too, so the kind of its statement decides. */
const onlyReads = ({ caller, sql }: StartedStatement): boolean =>
  caller.role === 'reader' || isRead(findKind(sql.slice(0, MAX_STATEMENT_CHARACTERS)));

const getAccess = ({ caller }: EndedStatement) => (caller.role === 'admin' ? 'write' : 'read');

const getFigures = ({ durationMs, rowsRead, bytesRead }: EndedStatement) => ({
  durationMs,
  rowsRead: rowsRead ?? null,
  bytesRead: bytesRead ?? null,
});

const getOwner = ({ caller: { organizationId, credentialId }, serviceId }: EndedStatement) => ({
  organizationId,
  serviceId,
  credentialId,
});

const formatOwner = ({ caller, serviceId }: EndedStatement): string => `${serviceId} ${caller.credentialId}`;
