import type { Aggregate } from '../aggregations.ts';
import type { Draft } from './draft.ts';
import type { Group, Points, SeriesQuery, Value } from './series-query.ts';

/** The grouping expressions and their names. */
type GroupingKeys = Pick<Draft, 'bucket' | 'groups' | 'groupNames' | 'writer'>;

/** The same keys for rows that are already grouped. */
export const referenceKeys = ({ groupNames, writer }: GroupingKeys): GroupingKeys => ({
  bucket: '__bucket',
  groups: groupNames,
  groupNames,
  writer,
});

const renderAggregate = ({ name, level, arguments: operands }: Aggregate, suffix = ''): string =>
  `${name}${suffix}${level === undefined ? '' : `(${level})`}(${operands.join(', ')})`;

/** Aggregates that are returned next to the value, as the last columns. */
interface FurtherAggregates {
  /** SQL of a number; its maximum over the groups that are merged. */
  span?: string | undefined;
}

/**
 * Groups `from` (with its WHERE) by bucket and group. Ranks groups by their highest bucket in the same scan and returns
 * the top ones. The others are merged from aggregate states: their average is that of their rows, not of averages.
 */
export function renderTopGroups(
  grouping: GroupingKeys,
  { top }: SeriesQuery,
  from: string,
  aggregate: Aggregate,
  { span }: FurtherAggregates = {},
): string {
  const { bucket, groups, groupNames, writer } = grouping;
  const keys = ['__bucket', ...groupNames].join(', ');
  if (groups.length === 0)
    return `SELECT ${bucket} AS __bucket, ${renderAggregate(aggregate)} AS __value${span ? `, ${span} AS __span` : ''} FROM ${from} GROUP BY __bucket ORDER BY __bucket`;
  const names = groupNames.join(', ');
  const value = top.withOthers
    ? `${renderAggregate(aggregate, 'State')} AS __state, finalizeAggregation(__state) AS __value`
    : `${renderAggregate(aggregate)} AS __value`;
  const selected = [`${bucket} AS __bucket`, ...groups, value, ...(span ? [`${span} AS __span`] : [])];
  const cells = `SELECT ${selected.join(', ')} FROM ${from} GROUP BY ${keys}`;
  const highest = `SELECT *, max(__value) OVER (PARTITION BY ${names}) AS __highest FROM (${cells})`;
  const ranked = `SELECT *, dense_rank() OVER (ORDER BY __highest DESC NULLS LAST, ${names}) AS __rank FROM (${highest})`;
  const counted = `SELECT *, max(__rank) OVER () AS __groups FROM (${ranked})`;
  const limit = writer.bind(top.groups, 'UInt32');
  if (!top.withOthers)
    return `SELECT ${keys}, __value, __rank, __groups${span ? ', __span' : ''} FROM (${counted}) WHERE __rank <= ${limit} ORDER BY __rank, __bucket`;
  const merged = groupNames.map((name) => `if(__place > ${limit}, '', ${name}) AS __shown${name}`);
  const shown = groupNames.map((name) => `__shown${name}`).join(', ');
  return (
    `SELECT __bucket, ${merged.join(', ')}, ${renderAggregate({ ...aggregate, arguments: ['__state'] }, 'Merge')}, ` +
    `least(__rank, ${limit} + 1) AS __place, any(__groups)${span ? ', max(__span)' : ''} FROM (${counted}) ` +
    `GROUP BY __bucket, ${shown}, __place ORDER BY __place, __bucket`
  );
}

/** The number of groups that `collectTopGroups` returns for these rows. */
export function countTopGroups([first]: unknown[][], { groupBy, top }: SeriesQuery): number {
  if (groupBy.length === 0) return 1;
  return first ? Math.min(Number(first[groupBy.length + 3]), top.groups + Number(top.withOthers)) : 0;
}

/** Converts the rows of `renderTopGroups` to points with a value or null for every bucket. */
export function collectTopGroups(rows: unknown[][], { groupBy, buckets, top }: SeriesQuery): Points {
  const groups = new Map<number, Group>();
  let totalGroups = groupBy.length === 0 ? 1 : 0;
  for (const row of rows) {
    const rank = groupBy.length === 0 ? 1 : Number(row[groupBy.length + 2]);
    if (groupBy.length > 0) totalGroups = Number(row[groupBy.length + 3]);
    let group = groups.get(rank);
    if (!group) {
      const isOthers = rank > top.groups;
      group = {
        labels: row.slice(1, 1 + groupBy.length).map(String),
        isOthers,
        values: buckets.starts.map(() => null),
      };
      groups.set(rank, group);
    }
    const index = Number(row[0]);
    if (index >= 0 && index < group.values.length) {
      group.values[index] = row[groupBy.length + 1] as Value;
      const span = row[groupBy.length + (groupBy.length === 0 ? 2 : 4)];
      if (span !== undefined) group.spans = (group.spans ?? new Map()).set(index, Number(span));
    }
  }
  if (groupBy.length === 0 && groups.size === 0)
    groups.set(1, { labels: [], isOthers: false, values: buckets.starts.map(() => null) });
  return { groups: [...groups.values()], totalGroups };
}
