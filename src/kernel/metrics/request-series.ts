import { addHistograms, createHistogram, type Histogram, observe } from './histogram.ts';

/** A completed request, for logs and telemetry. The suffix of the key id is the only part that comes from the client. */
export interface CompletedRequest {
  requestId: string;
  operation: string;
  method: string;
  /** The route template, `/v1/organizations/:organizationId`; empty if no route matched. */
  route: string;
  /** The suffix of the key id; undefined for unauthenticated requests, as is the organization. */
  key: string | undefined;
  organizationId: string | undefined;
  status: number;
  ms: number;
}

/** Seconds. */
export const LATENCY_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The completed requests of an organization with the same route, method and status. */
interface RequestSeries extends Pick<CompletedRequest, 'operation' | 'method' | 'route' | 'status' | 'organizationId'> {
  duration: Histogram;
}

/** All series are exported every time, so their number is limited. */
const MAX_SERIES = 2000;
/** Counts the requests of further organizations together. */
const OTHERS = 'others';

type ByRoute = Map<string, Map<string, (RequestSeries | undefined)[]>>;

export type RequestMetrics = ReturnType<typeof createRequestMetrics>;

/** Counts every request. */
export function createRequestMetrics(maxSeries = MAX_SERIES) {
  const listed: RequestSeries[] = [];
  const others: RequestSeries[] = [];
  /** By organization, route, method and status. Nested maps avoid building a key string for every request. */
  const organizations = new Map<string | undefined, ByRoute>();

  const find = (organizationId: string | undefined, { method, route, operation, status }: CompletedRequest) =>
    organizations
      .get(organizationId)
      ?.get(route || operation)
      ?.get(method)?.[status];

  function add(request: CompletedRequest): RequestSeries {
    const { operation, method, route, status } = request;
    const isListed = listed.length < maxSeries;
    const organizationId = isListed ? request.organizationId : OTHERS;
    const existing = isListed ? undefined : find(OTHERS, request);
    if (existing) return existing;
    const series = { operation, method, route, status, organizationId, duration: createHistogram(LATENCY_BOUNDS) };
    (isListed ? listed : others).push(series);
    const byRoute: ByRoute = getOrAdd(organizations, organizationId, () => new Map());
    const byMethod = getOrAdd(byRoute, route || operation, () => new Map());
    getOrAdd(byMethod, method, () => [])[status] = series;
    return series;
  }

  return {
    request(request: CompletedRequest): void {
      observe((find(request.organizationId, request) ?? add(request)).duration, request.ms / 1000);
    },
    listed: listed as readonly RequestSeries[],
    /** Requests that needed a new series when there were too many. They are counted without their organization. */
    others: others as readonly RequestSeries[],
  };
}

/** Adds up series with the same key. */
export function mergeSeries(all: readonly RequestSeries[], getKey: (series: RequestSeries) => string): RequestSeries[] {
  const merged = new Map<string, RequestSeries>();
  for (const series of all) {
    const key = getKey(series);
    const before = merged.get(key);
    merged.set(key, before ? { ...before, duration: addHistograms(before.duration, series.duration) } : series);
  }
  return [...merged.values()];
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const value = map.get(key) ?? create();
  map.set(key, value);
  return value;
}
