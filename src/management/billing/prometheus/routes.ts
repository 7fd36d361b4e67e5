import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { READERS } from '../../../kernel/access/roles.ts';
import { getIdentity } from '../../../platform/http/guard.ts';
import type { Routes } from '../../../platform/http/requests/validation.ts';
import { sendRendered } from '../../../platform/http/responses/envelopes.ts';
import { OrganizationPath } from '../../organizations/schema.ts';
import { ServicePath } from '../../services/schema.ts';
import type { Services } from '../../services/services.ts';
import { MAX_SERVICES, type ServiceMetrics } from './service-metrics.ts';

const tags = ['Services'];
/** Bounds the response: 5 MB at most. */
const MAX_DISCOVERED = 10_000;
const ORGANIZATION = '/v1/organizations/:organizationId';

const MetricsQuery = Type.Object(
  {
    filtered_metrics: Type.Optional(
      Type.Enum(['true', 'false'], {
        description: 'Accepted for compatibility: there are few metrics, so both values return all of them',
      }),
    ),
  },
  { additionalProperties: false },
);

const metricsResponse = {
  200: {
    description: 'Metrics in the text format of Prometheus',
    content: { 'text/plain': { schema: Type.String() } },
  },
};

const Targets = Type.Array(
  Type.Object({
    targets: Type.Array(Type.String()),
    labels: Type.Object({
      __scheme__: Type.String(),
      __metrics_path__: Type.String(),
      __param_filtered_metrics: Type.Optional(Type.String()),
      clickhouse_org_id: Type.String({ format: 'uuid' }),
      clickhouse_service_id: Type.String({ format: 'uuid' }),
      clickhouse_discovery_service_name: Type.String(),
      __meta_clickhouse_region: Type.Optional(Type.String()),
      __meta_clickhouse_provider: Type.Optional(Type.String()),
    }),
  }),
);

interface Options {
  services: Services;
  serviceMetrics: ServiceMetrics;
  basePath: string;
}

/** Metrics of services, for Prometheus. */
export function prometheusRoutes({ services, serviceMetrics, basePath }: Options): Routes {
  const send = (reply: object, text: string) =>
    (reply as FastifyReply).type('text/plain; version=0.0.4; charset=utf-8').send(text);

  return (app) => {
    app.get(
      `${ORGANIZATION}/services/:serviceId/prometheus`,
      {
        config: { operation: 'instancePrometheusGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get service metrics',
          description: 'State, size, metered usage and cost of the service, for Prometheus.',
          params: ServicePath,
          querystring: MetricsQuery,
          response: metricsResponse,
        },
      },
      async (request, reply) =>
        send(
          reply,
          await serviceMetrics.renderService(
            getIdentity(request).organizationId,
            request.params.serviceId.toLowerCase(),
          ),
        ),
    );

    app.get(
      `${ORGANIZATION}/prometheus`,
      {
        config: { operation: 'organizationPrometheusGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get metrics of all services',
          deprecated: true,
          description: `Of the first ${MAX_SERVICES} services; the discovery lists more.`,
          params: OrganizationPath,
          querystring: MetricsQuery,
          response: metricsResponse,
        },
      },
      async (request, reply) =>
        send(reply, await serviceMetrics.renderOrganization(getIdentity(request).organizationId)),
    );

    app.get(
      `${ORGANIZATION}/prometheus/discovery`,
      {
        config: { operation: 'organizationPrometheusDiscoveryGet', roles: READERS },
        schema: {
          tags,
          summary: 'Discover services for Prometheus',
          description: `One target for each of the first ${MAX_DISCOVERED} services, for http_sd_configs. Not in an envelope.`,
          params: OrganizationPath,
          querystring: MetricsQuery,
          response: { 200: Targets },
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        const { filtered_metrics } = request.query;
        const { host, protocol } = request as unknown as FastifyRequest;
        const groups = (await services.listFirst(organizationId, MAX_DISCOVERED)).map(({ id, name, details }) => ({
          targets: [host],
          labels: {
            __scheme__: protocol,
            __metrics_path__: `${basePath}/v1/organizations/${organizationId}/services/${id}/prometheus`,
            ...(filtered_metrics && { __param_filtered_metrics: filtered_metrics }),
            clickhouse_org_id: organizationId,
            clickhouse_service_id: id,
            clickhouse_discovery_service_name: name,
            ...(details.region && { __meta_clickhouse_region: details.region }),
            ...(details.provider && { __meta_clickhouse_provider: details.provider }),
          },
        }));
        return sendRendered(reply, JSON.stringify(groups));
      },
    );
  };
}
