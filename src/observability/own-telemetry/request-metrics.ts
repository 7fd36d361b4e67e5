import { createHistogramCounts, type HistogramCounts, observe, toHistogramColumns } from './histogram-counts.ts';
import {
  type CompletedRequest,
  getRouteOrOperation,
  routeTemplate,
  SCOPE_NAME,
  SERVICE_NAME,
} from './request-lines.ts';
import { type Attributes, CUMULATIVE, type TelemetryRows, unixTime } from './rows.ts';

/** Seconds. */
export const LATENCY_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** All series are written every time, so their number is limited. */
const MAX_SERIES = 2000;

interface Series {
  organizationId: string;
  attributes: Attributes;
  duration: HistogramCounts;
}

interface Options {
  resource: Attributes;
  startMs: number;
  maxSeries?: number;
}

/**
 * Counts every request, including those whose rows are dropped. Cumulative since the start of the process, so a missed
 * write costs resolution, not requests.
 */
export function createRequestMetrics({ resource, startMs, maxSeries = MAX_SERIES }: Options) {
  const all: Series[] = [];
  /** By organization, route, method and status. Nested maps avoid building a key string for every request. */
  const organizations = new Map<string, Map<string, Map<string, (Series | undefined)[]>>>();

  function getSeries(request: CompletedRequest, organizationId: string): Series | undefined {
    const { method, status } = request;
    const existing = organizations.get(organizationId)?.get(getRouteOrOperation(request))?.get(method)?.[status];
    return existing ?? add(request, organizationId);
  }

  function add(request: CompletedRequest, organizationId: string): Series | undefined {
    const { operation, method, route, status } = request;
    if (all.length >= maxSeries) return undefined;
    const series: Series = {
      organizationId,
      attributes: {
        'http.request.method': method,
        'http.route': routeTemplate(route),
        'http.response.status_code': String(status),
        operation,
      },
      duration: createHistogramCounts(LATENCY_BOUNDS),
    };
    all.push(series);
    const byMethod = getOrAdd(getOrAdd(organizations, organizationId), getRouteOrOperation(request));
    let byStatus = byMethod.get(method);
    if (!byStatus) {
      byStatus = [];
      byMethod.set(method, byStatus);
    }
    byStatus[status] = series;
    return series;
  }

  return {
    /** False if the request needs a new series and there are too many. */
    request(request: CompletedRequest, organizationId: string): boolean {
      const series = getSeries(request, organizationId);
      if (!series) return false;
      observe(series.duration, request.ms / 1000);
      return true;
    },
    /** Adds a row for every series. */
    collect(rows: TelemetryRows, nowMs: number): void {
      const StartTimeUnix = unixTime(startMs);
      const TimeUnix = unixTime(nowMs);
      for (const { organizationId, attributes, duration } of all) {
        const row = {
          OrganizationId: organizationId,
          ServiceName: SERVICE_NAME,
          ResourceAttributes: resource,
          ScopeName: SCOPE_NAME,
          Attributes: attributes,
          StartTimeUnix,
          TimeUnix,
          AggregationTemporality: CUMULATIVE,
        };
        rows.histogram.push({
          ...row,
          MetricName: 'http.server.request.duration',
          MetricDescription: 'From the first byte of a request to the last byte of its response',
          MetricUnit: 's',
          ...toHistogramColumns(duration),
        });
        rows.sum.push({
          ...row,
          MetricName: 'http.server.requests',
          MetricDescription: 'Completed requests',
          MetricUnit: '{request}',
          Value: duration.count,
          IsMonotonic: true,
        });
      }
    },
  };
}

function getOrAdd<V>(map: Map<string, Map<string, V>>, key: string): Map<string, V> {
  let inner = map.get(key);
  if (!inner) {
    inner = new Map();
    map.set(key, inner);
  }
  return inner;
}
