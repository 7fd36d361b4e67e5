/** URL parameters of the dashboard list. */
export interface DashboardsSearch {
  text?: string;
  tag?: string;
}

export function parseDashboardsSearch(search: Record<string, unknown>): DashboardsSearch {
  const { text, tag } = search;
  return {
    ...(typeof text === 'string' && text !== '' ? { text } : {}),
    ...(typeof tag === 'string' && tag !== '' ? { tag } : {}),
  };
}

export const PRESETS = ['5m', '15m', '1h', '6h', '24h', '7d', '30d'] as const;
export type Preset = (typeof PRESETS)[number];
const REFRESHES = ['10s', '1m'] as const;
export type Refresh = (typeof REFRESHES)[number];

/** URL parameters of a dashboard, so that a link reproduces the view. */
export interface DashboardSearch {
  /** Range ending now. Default: 1h. */
  last?: Preset;
  /** Epoch milliseconds; the end is exclusive. */
  from?: number;
  to?: number;
  refresh?: Refresh;
  /** Times in UTC instead of the local time zone. */
  utc?: true;
  /** Hides header and navigation, for wall displays. */
  kiosk?: true;
  edit?: true;
  /** ID of the tile shown full screen. */
  tile?: string;
  /** The chosen values of variables by name, if they are not the defaults. */
  vars?: Record<string, string[]>;
  /** A query for all tiles instead of the one that is saved with the dashboard. */
  where?: string;
  /** Default: Lucene. */
  lang?: 'sql';
  /** Shows the previous period, too. */
  compare?: true;
}

const findChoice = <T extends string>(choices: readonly T[], value: unknown): T | undefined =>
  choices.find((choice) => choice === value);
/** The latest time a Date can represent. */
const MAX_DATE_MS = 8.64e15;

export function parseDashboardSearch(search: Record<string, unknown>): DashboardSearch {
  const last = findChoice(PRESETS, search.last);
  const refresh = findChoice(REFRESHES, search.refresh);
  const [from, to] = [Number(search.from), Number(search.to)];
  const isRange = Number.isSafeInteger(from) && Number.isSafeInteger(to) && from > 0 && from < to && to < MAX_DATE_MS;
  return {
    ...(isRange ? { from, to } : last ? { last } : {}),
    ...(refresh ? { refresh } : {}),
    ...(search.utc === true ? { utc: true } : {}),
    ...(search.kiosk === true ? { kiosk: true } : {}),
    ...(search.edit === true ? { edit: true } : {}),
    // The router parses IDs that consist of digits as numbers.
    ...(['string', 'number'].includes(typeof search.tile) ? { tile: String(search.tile) } : {}),
    ...parseFilters(search),
    ...(search.compare === true ? { compare: true } : {}),
  };
}

const MAX_VARIABLES = 100;
const MAX_VALUES = 100;

/** The router parses texts such as `500` and `true` as JSON. */
const isText = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

function parseFilters({
  vars,
  where,
  lang,
}: Record<string, unknown>): Pick<DashboardSearch, 'vars' | 'where' | 'lang'> {
  const entries =
    typeof vars === 'object' && vars !== null && !Array.isArray(vars)
      ? Object.entries(vars).slice(0, MAX_VARIABLES)
      : [];
  const chosen = entries.flatMap(([name, values]) =>
    Array.isArray(values) ? [[name, values.filter(isText).map(String).slice(0, MAX_VALUES)] as const] : [],
  );
  return {
    ...(chosen.length > 0 ? { vars: Object.fromEntries(chosen) } : {}),
    ...(isText(where) ? { where: String(where), ...(lang === 'sql' ? { lang } : {}) } : {}),
  };
}
