import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { DASHBOARD_READERS } from '../../kernel/access/roles.ts';
import type { ExportLog } from '../../management/audit/export-log.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import { getClient } from '../../platform/http/requests/disconnect.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { logFailures } from '../../platform/http/responses/aborted-responses.ts';
import { compressResponse } from '../../platform/http/responses/compression.ts';
import { DashboardFailure, dashboardResponse } from '../../platform/http/responses/envelopes.ts';
import { TimeTileData } from '../charts/schema.ts';
import type { createSearchContext } from './context.ts';
import type { createSearchExport } from './export.ts';
import { FacetRecord, FacetsBody, FacetValuesBody, FacetValuesRecord } from './facets/facet-schema.ts';
import type { Facets } from './facets/facets.ts';
import type { createSearchHistogram } from './histogram.ts';
import { ContextBody, ContextResponse, ExportBody, HistogramBody, SearchBody, SearchResponse } from './schema.ts';
import type { Search } from './search.ts';

const tags = ['Search'];
const notFound = { 404: { ...DashboardFailure, description: 'The source does not exist' } };
const FILE_TYPES = { ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8; header=present' };

interface Options {
  search: Search;
  facets: Facets;
  searchHistogram: ReturnType<typeof createSearchHistogram>;
  searchContext: ReturnType<typeof createSearchContext>;
  searchExport: ReturnType<typeof createSearchExport>;
  exportLog: ExportLog;
}

/** Of the condition of an export, in the audit log. */
const MAX_LOGGED_CHARACTERS = 1024;

export function searchRoutes({
  search,
  facets,
  searchHistogram,
  searchContext,
  searchExport,
  exportLog,
}: Options): Routes {
  return (app) => {
    app.post(
      '/api/v2/search',
      {
        config: { operation: 'searchRows', roles: DASHBOARD_READERS },
        onSend: compressResponse,
        schema: {
          tags,
          summary: 'Search rows',
          description:
            'Returns matching rows of a source of logs or traces. Newest first unless orderBy says otherwise; the cursor then continues the search without losing or repeating a row, also among rows of the same time.',
          body: SearchBody,
          response: { 200: SearchResponse, ...notFound },
        },
      },
      (request, reply) => search.search(getClient(request, reply), request.body),
    );

    app.post(
      '/api/v2/search/histogram',
      {
        config: { operation: 'searchHistogram', roles: DASHBOARD_READERS },
        onSend: compressResponse,
        schema: {
          tags,
          summary: 'Count rows over time',
          description:
            'The number of matching rows per time bucket, by severity (logs) or status code (traces). The range is extended to whole buckets.',
          body: HistogramBody,
          response: { ...dashboardResponse(TimeTileData), ...notFound },
        },
      },
      async (request, reply) => ({ data: await searchHistogram(getClient(request, reply), request.body) }),
    );

    app.post(
      '/api/v2/search/facets',
      {
        config: { operation: 'listSearchFacets', roles: DASHBOARD_READERS },
        onSend: compressResponse,
        schema: {
          tags,
          summary: 'List fields to filter by',
          description:
            'The columns and attributes that occur in the time range, most frequent first, at most 500. Also of metrics.',
          body: FacetsBody,
          response: { ...dashboardResponse(Type.Array(FacetRecord)), ...notFound },
        },
      },
      async (request, reply) => ({ data: await facets.listKeys(getClient(request, reply), request.body) }),
    );

    app.post(
      '/api/v2/search/facets/values',
      {
        config: { operation: 'listSearchFacetValues', roles: DASHBOARD_READERS },
        onSend: compressResponse,
        schema: {
          tags,
          summary: 'Count the values of fields',
          description:
            'The most frequent values of up to 20 fields among the matching rows, also of metrics. Without conditions, whole hours of logs and traces are read from counts that are kept beside the rows, which takes the same time for millions of rows.',
          body: FacetValuesBody,
          response: { ...dashboardResponse(Type.Array(FacetValuesRecord)), ...notFound },
        },
      },
      async (request, reply) => ({ data: await facets.listValues(getClient(request, reply), request.body) }),
    );

    app.post(
      '/api/v2/search/context',
      {
        config: { operation: 'searchContext', roles: DASHBOARD_READERS },
        onSend: compressResponse,
        schema: {
          tags,
          summary: 'Get the rows around a row',
          description: 'The rows before and after a time, newest first, optionally of the same service, host or pod.',
          body: ContextBody,
          response: { 200: ContextResponse, ...notFound },
        },
      },
      (request, reply) => searchContext(getClient(request, reply), request.body),
    );

    app.post(
      '/api/v2/search/export',
      {
        config: { operation: 'exportSearch', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'Export rows',
          description:
            'Streams matching rows, newest first: NDJSON, or CSV in which text that a spreadsheet would evaluate as a formula is prefixed with an apostrophe. If the export fails after it has started, the connection is closed before the end of the response.',
          body: ExportBody,
          response: {
            200: {
              description: 'The exported rows',
              content: { 'application/x-ndjson': { schema: Type.String() }, 'text/csv': { schema: Type.String() } },
            },
            ...notFound,
          },
        },
      },
      async (request, reply) => {
        const chunks = searchExport(getClient(request, reply), request.body);
        // Read before the response starts, so that an invalid query is still a 400.
        const first = await chunks.next();
        const { format, sourceId, where, startTime, endTime, limit } = request.body;
        const { organizationId } = getIdentity(request);
        const details = { format, where: where?.slice(0, MAX_LOGGED_CHARACTERS), startTime, endTime, limit };
        await exportLog.record(getActor(request), {
          organizationId,
          exported: 'rows of a search',
          id: sourceId,
          details,
        });
        const response = reply as unknown as FastifyReply;
        return response
          .type(FILE_TYPES[format])
          .header('content-disposition', `attachment; filename="search.${format}"`)
          .send(Readable.from(concatenate(first, logFailures(request, chunks)), { objectMode: false }));
      },
    );
  };
}

async function* concatenate(first: IteratorResult<Buffer>, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}
