import { DASHBOARD_READERS } from '../../kernel/access/roles.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { getClient } from '../../platform/http/requests/disconnect.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { compressResponse } from '../../platform/http/responses/compression.ts';
import { DashboardFailure, dashboardResponse, sendRendered } from '../../platform/http/responses/envelopes.ts';
import { parseRange } from '../charts/time-range.ts';
import { renderTrace } from './render-trace.ts';
import {
  OperationsBody,
  OperationsRecord,
  ServiceMapBody,
  ServiceMapRecord,
  TracePath,
  TraceRecord,
  TraceSearchBody,
  TraceSearchRecord,
  TraceSources,
} from './schema.ts';
import { parseTraceId } from './trace-id.ts';
import type { Traces } from './traces.ts';

const tags = ['Traces'];

export function traceRoutes({ traces, clock }: { traces: Traces; clock: Clock }): Routes {
  return (app) => {
    app.get(
      '/api/v2/traces/:traceId',
      {
        config: { operation: 'getTrace', roles: DASHBOARD_READERS },
        onSend: compressResponse,
        schema: {
          tags,
          summary: 'Get a trace',
          description:
            'All spans and logs of a trace, whenever they happened, with its critical path. The request id of an activity is the id of its trace in the source pilothouse-traces.',
          params: TracePath,
          querystring: TraceSources,
          response: {
            ...dashboardResponse(TraceRecord),
            404: { ...DashboardFailure, description: 'No span and no log has this trace id' },
          },
        },
      },
      async (request, reply) => {
        const traceId = parseTraceId(request.params.traceId);
        const trace = await traces.get(getClient(request, reply), traceId, request.query);
        return sendRendered(reply, await renderTrace(trace)) as never;
      },
    );

    app.post(
      '/api/v2/traces/search',
      {
        config: { operation: 'searchTraces', roles: DASHBOARD_READERS },
        onSend: compressResponse,
        schema: {
          tags,
          summary: 'Search traces',
          description:
            'The traces that have a matching span in the range. The durations of a heatmap tile and its range select the traces of a cell.',
          body: TraceSearchBody,
          response: dashboardResponse(TraceSearchRecord),
        },
      },
      async (request, reply) => ({
        data: await traces.search(getClient(request, reply), select(request.body)),
      }),
    );

    app.post(
      '/api/v2/traces/operations',
      {
        config: { operation: 'listTraceOperations', roles: DASHBOARD_READERS },
        onSend: compressResponse,
        schema: {
          tags,
          summary: 'List operations by their time',
          description: 'The span names of each service that take the most time themselves, without their children.',
          body: OperationsBody,
          response: dashboardResponse(OperationsRecord),
        },
      },
      async (request, reply) => ({
        data: await traces.listOperations(getClient(request, reply), select(request.body)),
      }),
    );

    app.post(
      '/api/v2/traces/service-map',
      {
        config: { operation: 'getServiceMap', roles: DASHBOARD_READERS },
        onSend: compressResponse,
        schema: {
          tags,
          summary: 'Get the service map',
          description: 'Services, databases and queues, and the requests between them.',
          body: ServiceMapBody,
          response: dashboardResponse(ServiceMapRecord),
        },
      },
      async (request, reply) => ({
        data: await traces.getServiceMap(getClient(request, reply), select(request.body)),
      }),
    );
  };

  function select<Body extends { start?: string | number; end?: string | number }>({ start, end, ...rest }: Body) {
    return { ...rest, ...parseRange(clock.now(), { start, end }) };
  }
}
