import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../kernel/errors.ts';
import { isUuid, newUuid } from '../../kernel/ids.ts';
import { type Clock, SECOND_MS } from '../../kernel/time/clock.ts';
import type { Actor } from '../../management/audit/activity.ts';
import type { SqlRole } from '../../management/services/driver.ts';
import type { Services } from '../../management/services/services.ts';
import { escapeParameter } from '../proxy/kill-query.ts';
import type { SqlAccess } from '../proxy/sql-caller.ts';
import { type Failure, parseFailure, StatementFailure } from './clickhouse-failure.ts';
import { sendStatement } from './endpoint-request.ts';
import { checkReaderStatement } from './reader/reader-statement.ts';
import { readResult, readText, splitLines } from './result-stream.ts';
import { createRowCounter } from './row-counter.ts';
import { requireSqlUsers, runsElsewhere } from './sql-services.ts';
import type { StatementLog } from './statement-log.ts';

/** What a client asks for. */
interface Statement {
  sql: string;
  database?: string | undefined;
  parameters?: Readonly<Record<string, string>> | undefined;
  queryId?: string | undefined;
  maxRows?: number | undefined;
  /** The format of ClickHouse, unless the statement has one of its own. */
  format?: string | undefined;
  settings?: Readonly<Record<string, string>> | undefined;
  /** The file that the client gets, in the audit log. */
  file?: string | undefined;
}

/** Who runs a statement, and until when. */
export interface Caller {
  organizationId: string;
  credentialId: string;
  actor: Actor;
  role: SqlRole;
  address: string;
  userAgent: string;
  signal: AbortSignal;
}

export interface StatementOptions {
  services: Pick<Services, 'get'>;
  statementLog: StatementLog;
  clock: Clock;
  /** Where statements are taken; undefined if this node does not run the service, or it has no endpoint yet. */
  findSqlAccess(serviceId: string): Promise<SqlAccess | undefined> | SqlAccess | undefined;
  cancelStatement(serviceId: string, queryId: string, credentialId: string): Promise<boolean>;
}

/** A result that is being read. */
interface Result {
  queryId: string;
  contentType: string;
  chunks: AsyncGenerator<Buffer>;
}

/** `isEnded`: the chunk that was read last is the last one. */
interface StreamedResult extends Result {
  isEnded(): boolean;
}

const PROGRESS_FORMAT = 'JSONCompactEachRowWithProgress';
export const DEFAULT_MAX_ROWS = 10_000;
const MAX_LINE_BYTES = 32 * 2 ** 20;
/** Of the URL, which has the values of the parameters. */
const MAX_PARAMETER_BYTES = 48 * 1024;
/** Between two lines that say that the service is still starting. */
const WAKING_EVERY_MS = 5 * SECOND_MS;

/** Numbers that JavaScript cannot represent are text. */
const PROGRESS_SETTINGS = {
  output_format_json_quote_64bit_integers: '1',
  output_format_json_quote_decimals: '1',
  output_format_json_quote_denormals: '1',
};

export type Statements = ReturnType<typeof createStatements>;

/** Runs statements as one of the control plane's own users of a service. */
export function createStatements({ services, statementLog, clock, findSqlAccess, cancelStatement }: StatementOptions) {
  /** Checks what can be checked before the statement is sent. */
  async function prepare(caller: Caller, serviceId: string, statement: Statement) {
    const service = await services.get(caller.organizationId, serviceId);
    requireSqlUsers(service);
    if (caller.role === 'reader') checkReaderStatement(statement.sql, statement.parameters);
    const parameters = listParameters(statement);
    const access = await findSqlAccess(serviceId);
    if (!access) throw runsElsewhere(service);
    await statementLog.waitForRoom();
    const queryId = statement.queryId?.toLowerCase() ?? newUuid();
    const started = { at: clock.now(), ms: clock.monotonicMs() };
    const { role, credentialId, address, userAgent, signal } = caller;
    const sent = { sql: statement.sql, queryId, userAgent, parameters };
    const begun = { caller, serviceId, queryId, sql: statement.sql, startedAt: started.at };
    let intentId: string | undefined;
    return {
      service,
      queryId,
      /** The last chunk of the result has been produced. */
      isEnded: false,
      getElapsedMs: () => Math.round(clock.monotonicMs() - started.ms),
      async send(): Promise<IncomingMessage> {
        intentId = await statementLog.begin(begun);
        return sendStatement(access, { role, credentialId, address }, sent, signal);
      },
      /** Called once, after the end. */
      finish: (outcome: { rowsRead?: number; bytesRead?: number; failure?: Failure | undefined }) =>
        statementLog.record({
          ...begun,
          intentId,
          database: statement.database,
          file: statement.file,
          durationMs: Math.round(clock.monotonicMs() - started.ms),
          ...outcome,
        }),
    };
  }

  type Prepared = Awaited<ReturnType<typeof prepare>>;

  /** The lines of the result with its progress. Errors of ClickHouse are lines too. */
  async function* streamLines(caller: Caller, prepared: Prepared, statement: Statement): AsyncGenerator<Buffer> {
    const counter = createRowCounter(statement.maxRows ?? DEFAULT_MAX_ROWS);
    let failure: Failure | undefined;
    let response: IncomingMessage | undefined;
    /** The lines after which ClickHouse sent no others: a short result is sent in one piece. */
    const last: Buffer[] = [];
    try {
      const head = prepared.send();
      if (prepared.service.desiredState === 'idle') yield* announceWaking(head);
      response = await head;
      await requireResult(response, statement.sql);
      requireFormat(response, PROGRESS_FORMAT);
      counter.readSummary(response.headers['x-clickhouse-summary']);
      for await (const lines of splitLines(readResult(response, statement.sql), MAX_LINE_BYTES)) {
        const taken = counter.take(lines);
        if (response.complete) last.push(taken);
        else if (taken.length > 0) yield taken;
        if (counter.isTruncated()) break;
      }
    } catch (error) {
      failure = toFailure(error, caller.signal);
    } finally {
      // Closing the connection of an incomplete result ends the query.
      response?.destroy();
      const { rowsRead, bytesRead } = counter.read();
      // The client left while the result was sent.
      if (caller.signal.aborted) failure ??= toFailure(caller.signal.reason, caller.signal);
      prepared.finish({ rowsRead, bytesRead, failure });
    }
    prepared.isEnded = true;
    yield Buffer.concat([...last, toLine(toLastLine(prepared, counter.read(), failure))]);
  }

  const toLastLine = ({ queryId, getElapsedMs }: Prepared, figures: object, failure: Failure | undefined) =>
    failure ? { exception: failure } : { end: { queryId, ...figures, elapsedMs: getElapsedMs() } };

  async function* streamBytes(
    caller: Caller,
    prepared: Prepared,
    response: IncomingMessage,
    sql: string,
  ): AsyncGenerator<Buffer> {
    let failure: Failure | undefined;
    try {
      yield* readResult(response, sql);
    } catch (reason) {
      failure = toFailure(reason, caller.signal);
      throw reason;
    } finally {
      response.destroy();
      if (caller.signal.aborted) failure ??= toFailure(caller.signal.reason, caller.signal);
      prepared.finish({ failure });
    }
  }

  return {
    /** The lines of ClickHouse's format JSONCompactEachRowWithProgress, and a last line `end` or `exception`. */
    async stream(caller: Caller, serviceId: string, statement: Statement): Promise<StreamedResult> {
      const maxRows = statement.maxRows ?? DEFAULT_MAX_ROWS;
      const settings = { ...PROGRESS_SETTINGS, max_result_rows: String(maxRows), result_overflow_mode: 'break' };
      const asked = { ...statement, format: PROGRESS_FORMAT, settings };
      const prepared = await prepare(caller, serviceId, asked);
      return {
        queryId: prepared.queryId,
        contentType: 'application/x-ndjson; charset=utf-8',
        chunks: streamLines(caller, prepared, asked),
        isEnded: () => prepared.isEnded,
      };
    },

    /** The bytes of the result. Errors before the first byte are thrown. */
    async download(caller: Caller, serviceId: string, statement: Statement): Promise<Result> {
      const prepared = await prepare(caller, serviceId, statement);
      let response: IncomingMessage | undefined;
      try {
        response = await prepared.send();
        await requireResult(response, statement.sql);
      } catch (error) {
        response?.destroy();
        const failure = toFailure(error, caller.signal);
        prepared.finish({ failure });
        throw toAppError(failure);
      }
      return {
        queryId: prepared.queryId,
        contentType: response.headers['content-type'] ?? 'application/octet-stream',
        chunks: streamBytes(caller, prepared, response, statement.sql),
      };
    },

    /** Ends a running statement of the same credential. */
    async cancel(
      { organizationId, credentialId }: Pick<Caller, 'organizationId' | 'credentialId'>,
      serviceId: string,
      queryId: string,
    ) {
      requireSqlUsers(await services.get(organizationId, serviceId));
      const id = queryId.toLowerCase();
      if (isUuid(id) && (await cancelStatement(serviceId, id, credentialId))) return;
      throw new AppError('not_found', `No statement ${id} of this member or key is running`);
    },
  };
}

/** The parameters of the URL. */
function listParameters({ database, format, settings = {}, parameters = {} }: Statement): [string, string][] {
  const values = Object.entries(parameters).map(([name, value]): [string, string] => [
    `param_${name}`,
    escapeParameter(value),
  ]);
  const bytes = values.reduce((sum, [name, value]) => sum + name.length + encodeURIComponent(value).length, 0);
  if (bytes > MAX_PARAMETER_BYTES)
    throw new AppError('bad_request', `The values of the parameters have more than ${MAX_PARAMETER_BYTES} bytes`);
  return [
    ...(database === undefined ? [] : [['database', database] as [string, string]]),
    ...(format === undefined ? [] : [['default_format', format] as [string, string]]),
    ...Object.entries(settings),
    ...values,
  ];
}

/** Says that the service is being started, until its first answer. */
async function* announceWaking(head: Promise<unknown>): AsyncGenerator<Buffer> {
  const answered = head.then(
    () => true,
    () => true,
  );
  do yield toLine({ waking: true });
  while (!(await Promise.race([answered, delay(WAKING_EVERY_MS, false, { ref: false })])));
}

async function requireResult(response: IncomingMessage, sql: string): Promise<void> {
  if (response.statusCode !== 200) throw new StatementFailure(parseFailure(await readText([], response), sql));
}

/** The rows of another format could not be told from the other lines. */
function requireFormat({ headers }: IncomingMessage, format: string): void {
  const used = headers['x-clickhouse-format'];
  if (used === undefined || used === format) return;
  throw new StatementFailure({
    code: null,
    name: null,
    message: `The statement has the clause FORMAT ${used}; remove it, or download the result`,
    position: null,
  });
}

function toFailure(error: unknown, signal: AbortSignal): Failure {
  if (error instanceof StatementFailure) return error.failure;
  const message = signal.aborted ? 'The client disconnected' : 'The connection to the service was lost';
  const isOwn = error instanceof Error && !('code' in error) && !signal.aborted;
  return { code: null, name: null, message: isOwn ? error.message : message, position: null };
}

/** Errors of the endpoint, before the statement reached the service. */
const UNAVAILABLE_CODES: readonly (number | null)[] = [null, 202, 209, 210, 279];
const ACCESS_DENIED = 497;

function toAppError({ code, name, message }: Failure): AppError {
  if (UNAVAILABLE_CODES.includes(code)) return new AppError('unavailable', message);
  const text = name === null || message.includes(name) ? message : `${message} (${name})`;
  return new AppError(code === ACCESS_DENIED ? 'forbidden' : 'bad_request', text);
}

const toLine = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);
