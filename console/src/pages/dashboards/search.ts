/** What the address of the list of dashboards holds. */
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
export const REFRESHES = ['10s', '1m'] as const;
export type Refresh = (typeof REFRESHES)[number];

/** What the address of one dashboard holds: a link shows the next person the same thing. */
export interface DashboardSearch {
  /** The range up to now; an hour when neither this nor `from` and `to` are there. */
  last?: Preset;
  /** Epoch milliseconds; the end is exclusive. */
  from?: number;
  to?: number;
  refresh?: Refresh;
  /** Times in UTC instead of the viewer's zone. */
  utc?: true;
  /** The dashboard alone, for a screen on the wall. */
  kiosk?: true;
  edit?: true;
  /** The id of the tile that fills the window. */
  tile?: string;
}

const findChoice = <T extends string>(choices: readonly T[], value: unknown): T | undefined =>
  choices.find((choice) => choice === value);
/** Later than this no Date can say. */
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
    // Ids of digits alone arrive as numbers.
    ...(['string', 'number'].includes(typeof search.tile) ? { tile: String(search.tile) } : {}),
  };
}
