import { DASHBOARD_READERS } from '../../../kernel/access/roles.ts';
import { getClient } from '../../../platform/http/requests/disconnect.ts';
import type { Routes } from '../../../platform/http/requests/validation.ts';
import { compressResponse } from '../../../platform/http/responses/compression.ts';
import { DashboardFailure } from '../../../platform/http/responses/envelopes.ts';
import { MetricPointsBody, MetricPointsResponse } from './point-schema.ts';
import type { MetricPoints } from './points.ts';

export const metricPointRoutes =
  ({ metricPoints }: { metricPoints: MetricPoints }): Routes =>
  (app) => {
    app.post(
      '/api/v2/metrics/points',
      {
        config: { operation: 'listMetricPoints', roles: DASHBOARD_READERS },
        onSend: compressResponse,
        schema: {
          tags: ['Search'],
          summary: 'List the points of a metric',
          description:
            'The data points of one metric as they were received, newest first, with their exemplars: measurements with the trace and span in which they were made.',
          body: MetricPointsBody,
          response: {
            200: MetricPointsResponse,
            404: { ...DashboardFailure, description: 'The source does not exist' },
          },
        },
      },
      (request, reply) => metricPoints(getClient(request, reply), request.body),
    );
  };
