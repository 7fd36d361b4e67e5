import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { ADMINS, READERS } from '../../kernel/access/roles.ts';
import type { SqlRole } from '../../management/services/driver.ts';
import { ServicePath } from '../../management/services/schema.ts';
import type { Services } from '../../management/services/services.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { logFailures } from '../../platform/http/responses/aborted-responses.ts';
import {
  emptyManagementResponse,
  emptySuccess,
  ManagementFailure,
  managementResponse,
  success,
} from '../../platform/http/responses/envelopes.ts';
import { createCaller } from './request-caller-routes.ts';
import { DOWNLOADS, HistoryQuery, HistoryRecord, QueryPath, SqlBody, toHistoryRecord } from './schema.ts';
import { MAX_HISTORY, type StatementLog } from './statement-log.ts';
import type { Statements } from './statements.ts';

const tags = ['SQL'];
const SQL = '/v1/organizations/:organizationId/services/:serviceId/sql';

const STREAM =
  'With the format progress, the response is a stream of lines of JSON: {"waking": true} while an idle service is started, then the lines of ClickHouse\'s format JSONCompactEachRowWithProgress (progress, meta, row, totals), and as the last line {"end": {queryId, rows, rowsRead, bytesRead, elapsedMs, truncated}} or {"exception": {code, name, message, position}}. 64-bit integers, decimals, NaN and infinity are text. All other formats are files; if reading fails after the response has started, the connection is closed before its end. A client that disconnects stops the statement. Services with the driver embedded only.';

const response = {
  200: {
    description: 'The result',
    content: {
      'application/x-ndjson': { schema: Type.String() },
      'text/csv': { schema: Type.String() },
      'text/tab-separated-values': { schema: Type.String() },
      'application/octet-stream': { schema: Type.String() },
      'application/json': { schema: Type.Any() },
    },
  },
  409: { ...ManagementFailure, description: 'The service is stopped, or its driver has no users for SQL by role' },
};

interface Options {
  services: Pick<Services, 'get'>;
  statements: Statements;
  statementLog: StatementLog;
}

export function sqlRoutes({ services, statements, statementLog }: Options): Routes {
  return (app) => {
    app.post(
      `${SQL}/read`,
      {
        config: { operation: 'sqlRead', roles: READERS },
        schema: {
          tags,
          summary: 'Run a statement that reads',
          description: `Runs one statement as a user of the service that may only read, with limits on time, memory and result. ${STREAM}`,
          params: ServicePath,
          body: SqlBody,
          response,
        },
      },
      (request, reply) => run(request, reply, 'reader'),
    );

    app.post(
      `${SQL}/write`,
      {
        config: { operation: 'sqlWrite', roles: ADMINS },
        schema: {
          tags,
          summary: 'Run any statement',
          description: `Runs one statement as a user of the service that may do what its password allows. ${STREAM}`,
          params: ServicePath,
          body: SqlBody,
          response,
        },
      },
      (request, reply) => run(request, reply, 'admin'),
    );

    app.delete(
      `${SQL}/queries/:queryId`,
      {
        config: { operation: 'sqlCancel', roles: READERS },
        schema: {
          tags,
          summary: 'Cancel a running statement',
          description: 'Only a statement of the same credentials that is running in the service. 404 if there is none.',
          params: QueryPath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const { serviceId, queryId } = request.params;
        await statements.cancel(getIdentity(request), serviceId.toLowerCase(), queryId);
        return emptySuccess(request);
      },
    );

    app.get(
      `${SQL}/history`,
      {
        config: { operation: 'sqlHistoryGetList', roles: READERS },
        schema: {
          tags,
          summary: 'List statements of the caller',
          description: `The last ${MAX_HISTORY} statements that these credentials ran on the service, newest first.`,
          params: ServicePath,
          querystring: HistoryQuery,
          response: managementResponse(Type.Array(HistoryRecord)),
        },
      },
      async (request) => {
        const { organizationId, credentialId } = getIdentity(request);
        const serviceId = request.params.serviceId.toLowerCase();
        await services.get(organizationId, serviceId);
        const owner = { organizationId, serviceId, credentialId };
        const entries = await statementLog.listHistory(owner, request.query.limit ?? MAX_HISTORY);
        return success(request, entries.map(toHistoryRecord));
      },
    );
  };

  async function run(
    request: FastifyRequest & { params: { serviceId: string }; body: Static<typeof SqlBody> },
    reply: object,
    role: SqlRole,
  ): Promise<FastifyReply> {
    const { format = 'progress', maxRows, sql, database, parameters, queryId } = request.body;
    const statement = { sql, database, parameters, queryId };
    const caller = createCaller(request, reply, role);
    const serviceId = request.params.serviceId.toLowerCase();
    const answer = reply as FastifyReply;
    answer.header('cache-control', 'no-store').header('x-accel-buffering', 'no');
    if (format === 'progress') {
      const { contentType, chunks, isEnded } = await statements.stream(caller, serviceId, { ...statement, maxRows });
      const { value: first } = await chunks.next();
      answer.type(contentType);
      // A short result is one chunk: it costs one write instead of two, and no stream.
      if (isEnded()) return answer.send(first);
      const stream = Readable.from(chunks, { objectMode: false });
      stream.push(first);
      return answer.send(stream);
    }
    const { ending, ...output } = DOWNLOADS[format];
    const { contentType, chunks } = await statements.download(caller, serviceId, {
      ...statement,
      ...output,
      file: format,
    });
    return answer
      .type(contentType)
      .header('content-disposition', `attachment; filename="query.${ending}"`)
      .send(Readable.from(logFailures(request, chunks), { objectMode: false }));
  }
}
