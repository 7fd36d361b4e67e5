import { queryOptions } from '@tanstack/react-query';
import type { Operations, TileFilter } from '../../../../api/generated.ts';
import { type Series, type TileDataByType, tileRequests } from '../../queries.ts';

/** A row of a search: what the tile shows of it, and its place among the rows that look the same. */
export interface ShownRow {
  cells: readonly unknown[];
  occurrence: number;
}

/** The other columns of a row, in the order of the table. */
export type FullRow = { name: string; value: unknown }[];

/** The limit of a search. */
const MAX_FIELDS = 100;
/** Within one millisecond. The server sends at most 2 MiB of them. */
const MAX_ROWS = 1000;

/** Numbers the rows that look the same, in the order of the search. */
export function listShownRows({ rows }: TileDataByType<'search'>): (ShownRow & { id: string })[] {
  const counts = new Map<string, number>();
  return rows.map((cells) => {
    const text = JSON.stringify(cells);
    const occurrence = counts.get(text) ?? 0;
    counts.set(text, occurrence + 1);
    return { cells, occurrence, id: `${occurrence} ${text}` };
  });
}

/**
 * All columns of a row. A row has no id, so the search of the tile is repeated for its millisecond with every column, and
 * the row is the one that looks the same. Undefined if it no longer exists.
 */
export const rowQuery = (
  api: Operations,
  organizationId: string,
  series: Series,
  shown: readonly string[],
  { cells, occurrence }: ShownRow,
  /** Of the viewer. */
  filters: readonly TileFilter[],
) =>
  queryOptions({
    queryKey: [organizationId, 'row', JSON.stringify([series, shown, cells, filters]), occurrence],
    queryFn: ({ signal }) =>
      tileRequests.run(signal, async (): Promise<FullRow | null> => {
        const start = Number(cells[0]);
        const { sourceId = 'logs', where, whereLanguage } = series;
        const range = { start, end: start + 1 };
        const columns = await api.listSourceColumns(
          { id: sourceId, start: String(range.start), end: String(range.end) },
          { signal },
        );
        const names = columns.map(({ name }) => name).slice(0, MAX_FIELDS - shown.length);
        const search = {
          type: 'search' as const,
          sourceId,
          where,
          whereLanguage,
          groupBy: [],
          fields: [...shown, ...names.map(quoteName)],
        };
        const body = { series: [search], ...range, limit: MAX_ROWS, filters: [...filters] };
        const data = await api.drawTile({ body }, { signal });
        const rows = data.type === 'search' ? data.rows : [];
        const wanted = JSON.stringify(cells);
        const found = rows.filter((row) => JSON.stringify(row.slice(0, cells.length)) === wanted)[occurrence];
        return found ? names.map((name, index) => ({ name, value: found[cells.length + index] })) : null;
      }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  });

/** As an expression: names such as `Events.Name` must be quoted. */
const quoteName = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
