import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { logFailures } from '../../http/aborted-responses.ts';
import { managementResponse, success } from '../../http/envelopes.ts';
import { getIdentity } from '../../http/guard.ts';
import type { Routes } from '../../http/validation.ts';
import { acceptsGzip } from '../../kernel/encodings.ts';
import { READERS } from '../../kernel/roles.ts';
import { OrganizationPath } from '../../organizations/schema.ts';
import { parseWindow } from '../window.ts';
import { fileNameOf } from './exports.ts';
import type { Reports } from './reports.ts';
import { ExportQuery, SummaryQuery, summaryRecord, UsageCostSummary } from './schema.ts';
import { MAX_SUMMARY_DAYS } from './summaries.ts';

const tags = ['Billing'];
/** Text with this much repetition shrinks to a tenth at once; more effort costs more time than it saves. */
const GZIP_LEVEL = 2;

export function reportRoutes({ reports }: { reports: Reports }): Routes {
  return (app) => {
    app.get(
      '/v1/organizations/:organizationId/usageCost/summary',
      {
        config: { operation: 'usageCostSummaryGet', roles: READERS },
        schema: {
          tags,
          summary: 'Summarize usage cost',
          description:
            'A row for every period and group that cost something in it or in the period before, which stands beside it. Periods are cut off where the days asked for end; sums are exact.',
          params: OrganizationPath,
          querystring: SummaryQuery,
          response: managementResponse(UsageCostSummary),
        },
      },
      async (request) => {
        const { by = 'day', group = 'none' } = request.query;
        const window = parseWindow(request.query, MAX_SUMMARY_DAYS);
        const summary = await reports.summaries.of(getIdentity(request).organizationId, window, by, group);
        return success(request, summaryRecord(summary));
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
            'A file over any span, sent as it is made: one line per record, or FOCUS 1.2 with one line per charge. Cells that a spreadsheet would run begin with an apostrophe.',
          params: OrganizationPath,
          querystring: ExportQuery,
          response: { 200: { description: 'The file', content: { 'text/csv': { schema: Type.String() } } } },
        },
      },
      async (request, reply) => {
        const { format = 'csv' } = request.query;
        const window = parseWindow(request.query, Number.POSITIVE_INFINITY);
        const pieces = reports.exports.pieces(getIdentity(request).organizationId, window, format);
        // Before the answer begins: a store that is down is still a 503, not half a file.
        const first = await pieces.next();
        const file = Readable.from(chained(first, logFailures(request, pieces)), { objectMode: false });
        const answer = reply as unknown as FastifyReply;
        answer
          .type('text/csv; charset=utf-8; header=present')
          .header('content-disposition', `attachment; filename="${fileNameOf(window, format)}"`)
          .header('vary', 'accept-encoding');
        if (!acceptsGzip(request.headers['accept-encoding'])) return answer.send(file);
        const gzip = createGzip({ level: GZIP_LEVEL });
        // A client that goes away ends the one, and with it the other.
        pipeline(file, gzip, () => {});
        return answer.header('content-encoding', 'gzip').send(gzip);
      },
    );
  };
}

async function* chained(first: IteratorResult<Buffer>, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}
