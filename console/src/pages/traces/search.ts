import { type DashboardSearch, parseDashboardSearch } from '../dashboards/search.ts';

/** URL parameters of the trace list and the service map, so that a link reproduces the view. */
export interface TracesSearch extends Pick<DashboardSearch, 'last' | 'from' | 'to' | 'utc'> {
  /** ID of a source of kind trace. Default: traces. */
  source?: string;
  where?: string;
  /** Default: Lucene. */
  lang?: 'sql';
  order?: 'slowest';
  /** Default: the list of traces. */
  view?: 'operations';
  /** Nanoseconds, both inclusive. */
  min?: number;
  max?: number;
  /** Epoch milliseconds: a part of the range that was selected in the heatmap. */
  partStart?: number;
  partEnd?: number;
  /** The traces must also have this service. */
  with?: string;
}

export function parseTracesSearch(search: Record<string, unknown>): TracesSearch {
  const { last, from, to, utc } = parseDashboardSearch(search);
  const [source, where, other] = [search.source, search.where, search.with].map(toText);
  const [min, max, partStart, partEnd] = [search.min, search.max, search.partStart, search.partEnd].map(toCount);
  return {
    ...(source ? { source } : {}),
    ...(where ? { where } : {}),
    ...(search.lang === 'sql' ? { lang: 'sql' } : {}),
    ...(search.order === 'slowest' ? { order: 'slowest' } : {}),
    ...(search.view === 'operations' ? { view: 'operations' } : {}),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(last ? { last } : {}),
    ...(utc ? { utc } : {}),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(partStart !== undefined && partEnd !== undefined && partStart < partEnd ? { partStart, partEnd } : {}),
    ...(other ? { with: other } : {}),
  };
}

/** URL parameters of one trace. */
export interface TraceSearch {
  /** ID of the source of the spans. Default: traces. */
  source?: string;
  /** ID of the source of the logs. Default: that of the source. */
  logSource?: string;
  /** The selected span, or `log-` with the index of the selected log. */
  span?: string;
}

export function parseTraceSearch(search: Record<string, unknown>): TraceSearch {
  const [source, logSource, span] = [search.source, search.logSource, search.span].map(toText);
  return { ...(source ? { source } : {}), ...(logSource ? { logSource } : {}), ...(span ? { span } : {}) };
}

/** The router parses texts such as `500` as JSON. */
const toText = (value: unknown): string | undefined =>
  ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;

const toCount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
