import { parseChoice } from '../../expressions/choice.ts';
import type { Expression } from '../../expressions/expression.ts';
import { ExpressionError, pointAt, UnknownColumnError } from '../../expressions/expression-error.ts';
import type { Scope } from '../../expressions/scope.ts';
import type { TileFilter } from '../filter-schema.ts';
import { createScope, parseWhere, queryError } from '../queries/draft.ts';
import type { Table } from '../queries/series-query.ts';
import type { RenderableTile, UnappliedFilter } from './tile-data.ts';

/**
 * The tile with the filters of its viewer. A filter with a column that one of the sources does not have applies to no series
 * of the tile: half of a ratio would be filtered otherwise. Throws if a filter is invalid for another reason.
 */
export function applyFilters(
  tile: RenderableTile,
  filters: readonly TileFilter[],
  /** The table of each series. */
  tables: readonly Table[],
): { tile: RenderableTile; unapplied: UnappliedFilter[] } {
  const unapplied: UnappliedFilter[] = [];
  const conditions = tables.map((): Expression[] => []);
  for (const [filter, one] of filters.entries()) {
    try {
      const parsed = tables.map((table) => parseFilter(one, createScope(table), `filters[${filter}]`));
      for (const [index, condition] of parsed.entries()) if (condition) conditions[index]?.push(condition);
    } catch (error) {
      if (!(error instanceof UnknownColumnError)) throw error;
      unapplied.push({ filter, reason: error.message });
    }
  }
  const series = tile.series.map((one, index) => ({ ...one, conditions: conditions[index] ?? [] }));
  return { tile: { ...tile, series }, unapplied };
}

function parseFilter(
  { expression = '', values = [], where, whereLanguage = 'lucene' }: TileFilter,
  scope: Scope,
  path: string,
): Expression | undefined {
  const [text, member] = where === undefined ? [expression, 'expression'] : [where, 'where'];
  try {
    return where === undefined ? parseChoice(expression, values, scope) : parseWhere(where, whereLanguage, scope);
  } catch (error) {
    if (!(error instanceof ExpressionError) || error instanceof UnknownColumnError) throw error;
    throw queryError(`${path}.${member}`, `${error.message} (${pointAt(text, error)})`);
  }
}
