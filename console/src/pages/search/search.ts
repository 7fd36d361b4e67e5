import { type DashboardSearch, parseDashboardSearch } from '../dashboards/search.ts';

/** URL parameters of the search page, so that a link reproduces the view. */
export interface RowSearch extends Pick<DashboardSearch, 'last' | 'from' | 'to' | 'utc'> {
  /** ID of the source. Default: the first one. */
  source?: string;
  where?: string;
  /** Default: Lucene. */
  lang?: 'sql';
  /** SQL conditions in addition to `where`. */
  filters?: string[];
  /** SQL expressions. Default: those of the source. */
  columns?: string[];
  /** Follows new rows. */
  live?: true;
  wrap?: true;
  /** ID of the row whose details are shown. */
  row?: string;
  /** ID of the saved search that this one started from. */
  saved?: string;
}

const MAX_FILTERS = 100;
const MAX_COLUMNS = 50;

export function parseRowSearch(search: Record<string, unknown>): RowSearch {
  const { last, from, to, utc } = parseDashboardSearch(search);
  const [source, where, row, saved] = [search.source, search.where, search.row, search.saved].map(toText);
  const filters = toTexts(search.filters, MAX_FILTERS);
  const columns = toTexts(search.columns, MAX_COLUMNS);
  return {
    ...(source ? { source } : {}),
    ...(where ? { where } : {}),
    ...(search.lang === 'sql' ? { lang: 'sql' } : {}),
    ...(filters.length > 0 ? { filters } : {}),
    ...(columns.length > 0 ? { columns } : {}),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(last ? { last } : {}),
    ...(utc ? { utc } : {}),
    ...(search.live === true && from === undefined ? { live: true } : {}),
    ...(search.wrap === true ? { wrap: true } : {}),
    ...(row ? { row } : {}),
    ...(saved ? { saved } : {}),
  };
}

/** The router parses texts such as `500` and `true` as JSON. */
const toText = (value: unknown): string | undefined =>
  ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;

const toTexts = (value: unknown, max: number): string[] =>
  Array.isArray(value)
    ? value
        .flatMap((one) => toText(one)?.trim() ?? [])
        .filter((text) => text !== '')
        .slice(0, max)
    : [];
