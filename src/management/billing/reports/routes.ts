import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { READERS } from '../../../kernel/access/roles.ts';
import { getIdentity } from '../../../platform/http/guard.ts';
import type { Routes } from '../../../platform/http/requests/validation.ts';
import { logFailures } from '../../../platform/http/responses/aborted-responses.ts';
import { chooseEncoding } from '../../../platform/http/responses/compression.ts';
import { managementResponse, success } from '../../../platform/http/responses/envelopes.ts';
import type { ExportLog } from '../../audit/export-log.ts';
import { getActor } from '../../audit/request-actor.ts';
import { OrganizationPath } from '../../organizations/schema.ts';
import { parseWindow } from '../window.ts';
import { formatFileName } from './exports.ts';
import type { Reports } from './reports.ts';
import { ExportQuery, SummaryQuery, toSummaryRecord, UsageCostSummary } from './schema.ts';
import { MAX_SUMMARY_DAYS } from './summaries.ts';

const tags = ['Billing'];
/** Compresses these repetitive files to a tenth; higher levels take more time than they save. */
const GZIP_LEVEL = 2;

export function reportRoutes({ reports, exportLog }: { reports: Reports; exportLog: ExportLog }): Routes {
  return (app) => {
    app.get(
      '/v1/organizations/:organizationId/usageCost/summary',
      {
        config: { operation: 'usageCostSummaryGet', roles: READERS },
        schema: {
          tags,
          summary: 'Summarize usage cost',
          description:
            'Returns a row for each period and group with a cost in the period or in the period it is compared with. Periods are cut off at the ends of the requested range. Sums are exact.',
          params: OrganizationPath,
          querystring: SummaryQuery,
          response: managementResponse(UsageCostSummary),
        },
      },
      async (request) => {
        const { by = 'day', group = 'none' } = request.query;
        const window = parseWindow(request.query, MAX_SUMMARY_DAYS);
        const summary = await reports.summaries.get(getIdentity(request).organizationId, window, by, group);
        return success(request, toSummaryRecord(summary));
      },
    );

    app.get(
      '/v1/organizations/:organizationId/usageCost/export',
      {
        config: { operation: 'usageCostExport', roles: READERS },
        schema: {
          tags,
          summary: 'Export usage cost',
          description:
            'Streams a file for any date range: CSV with one line per cost record, or FOCUS 1.2 with one line per charge. Text that a spreadsheet would evaluate as a formula is prefixed with an apostrophe.',
          params: OrganizationPath,
          querystring: ExportQuery,
          response: { 200: { description: 'The exported file', content: { 'text/csv': { schema: Type.String() } } } },
        },
      },
      async (request, reply) => {
        const { format = 'csv' } = request.query;
        const window = parseWindow(request.query, Number.POSITIVE_INFINITY);
        const chunks = reports.exports.render(getIdentity(request).organizationId, window, format);
        // Read before the response starts, so that a store failure is still reported as 503.
        const first = await chunks.next();
        const { organizationId } = getIdentity(request);
        const { from_date: from, to_date: to } = request.query;
        const details = { format, from, to };
        await exportLog.record(getActor(request), {
          organizationId,
          exported: 'usage cost',
          id: organizationId,
          details,
        });
        const file = Readable.from(concatenate(first, logFailures(request, chunks)), { objectMode: false });
        const response = reply as unknown as FastifyReply;
        response
          .type('text/csv; charset=utf-8; header=present')
          .header('content-disposition', `attachment; filename="${formatFileName(window, format)}"`);
        if (chooseEncoding(request, response, ['gzip']) === 'identity') return response.send(file);
        const gzip = createGzip({ level: GZIP_LEVEL });
        // `pipeline` destroys both streams when the client disconnects.
        pipeline(file, gzip, () => {});
        return response.header('content-encoding', 'gzip').send(gzip);
      },
    );
  };
}

async function* concatenate(first: IteratorResult<Buffer>, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}
