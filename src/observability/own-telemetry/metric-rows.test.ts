import { expect, it } from 'vitest';
import { createRequestMetrics } from '../../kernel/metrics/request-series.ts';
import { createMetrics } from '../../platform/http/monitoring/metrics.ts';
import { openMetricRows } from './metric-rows.ts';

const REQUEST = {
  requestId: '',
  operation: 'instanceGet',
  method: 'GET',
  route: '/services/:id',
  status: 200,
  ms: 3,
  key: undefined,
};

it('/metrics and the rows of the own telemetry show the same requests, with and without organizations', async () => {
  const metrics = createMetrics();
  for (const organizationId of ['a', 'b', 'operator', undefined]) metrics.request({ ...REQUEST, organizationId });
  expect(await metrics.registry.getSingleMetricAsString('pilothouse_requests_total')).toContain(
    'pilothouse_requests_total{operation="instanceGet",status="200"} 4',
  );
  const rows = openMetricRows({ metrics, operatorId: 'operator', resource: {}, startMs: 0 });
  const { histogram, sum } = rows.collect(1000);
  rows.close();
  const own = sum.filter(({ MetricName }) => MetricName === 'http.server.requests');
  expect(own.map((row) => [row.OrganizationId, row.Value])).toEqual([
    ['a', 1],
    ['b', 1],
    ['operator', 2],
  ]);
  expect(histogram.find((row) => row.OrganizationId === 'operator')).toMatchObject({
    Count: 2,
    Sum: 0.006,
    Max: 0.003,
  });
});

it('requests beyond the limit of series are counted without their organization', () => {
  const requests = createRequestMetrics(2);
  for (const organizationId of ['a', 'b', 'c', 'd', 'a']) requests.request({ ...REQUEST, organizationId });
  const count = (all: typeof requests.listed) =>
    all.map((series) => [series.organizationId, series.duration.count] as const);
  expect(count(requests.listed)).toEqual([
    ['a', 2],
    ['b', 1],
  ]);
  expect(count(requests.others).map(([, counted]) => counted)).toEqual([2]);
});
