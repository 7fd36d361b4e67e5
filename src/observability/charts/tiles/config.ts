import { isDeepStrictEqual } from 'node:util';
import { joinExpressions, splitExpressions } from '../queries/expression-list.ts';
import { findSortOrder, formatOrder } from '../queries/sort-order.ts';
import type { Series } from '../series-schema.ts';
import type { SelectItem, TileConfig } from './config-schema.ts';

/** The members of a tile that have two forms: `series` with `asRatio`, and `config`. */
export interface SeriesForm {
  asRatio: boolean;
  series: Series[];
}

type DisplayType = TileConfig['displayType'];

const SERIES_TYPES: Record<Exclude<DisplayType, 'event_patterns'>, Series['type']> = {
  line: 'time',
  stacked_bar: 'time',
  stacked_line: 'time',
  table: 'table',
  number: 'number',
  pie: 'pie',
  bar: 'bar',
  heatmap: 'heatmap',
  histogram: 'histogram',
  search: 'search',
  markdown: 'markdown',
};

type Compact<T> = { [name in keyof T]: Exclude<T[name], undefined> };

/** Removes members that are undefined, so that objects can be compared. */
const compact = <T extends object>(object: T): Compact<T> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Compact<T>;

/** The items of a config whose `select` is a list. */
export const listItems = ({ select }: TileConfig): SelectItem[] => (Array.isArray(select) ? select : []);

/** Whether each tile shows the distribution of one value rather than aggregated series. */
export const isDistribution = ({ displayType, heatmapMode }: TileConfig): boolean =>
  displayType === 'histogram' || (displayType === 'heatmap' && heatmapMode !== 'series');

/**
 * The series that show the same data as a valid config, or the most similar ones. What they cannot express (`formulas`,
 * colors, …) is left out.
 */
export function toSeries(config: TileConfig): SeriesForm {
  const type = SERIES_TYPES[config.displayType as keyof typeof SERIES_TYPES];
  const { sourceId, asRatio = false } = config;
  const plain = { where: config.where ?? '', whereLanguage: config.whereLanguage ?? 'lucene', groupBy: [] } as const;
  if (type === 'markdown')
    return { asRatio, series: [{ type, ...plain, groupBy: [], content: config.markdown ?? '' }] };
  if (type === 'search') {
    const fields = typeof config.select === 'string' ? splitExpressions(config.select) : [];
    return { asRatio, series: [compact({ type, ...plain, groupBy: [], sourceId, fields })] };
  }
  if (isDistribution(config)) {
    const [value] = listItems(config);
    const { numberFormat } = config;
    const field = value?.valueExpression;
    return {
      asRatio,
      series: [compact({ type, ...plain, groupBy: [], sourceId, field, alias: value?.alias, numberFormat })],
    };
  }
  const groupBy = type === 'number' ? [] : splitExpressions(config.groupBy ?? '');
  const series = listItems(config).map((item) => toOneSeries(config, item, type, groupBy));
  const sortOrder = type === 'table' && series[0] ? findSortOrder(config.orderBy, series[0]) : undefined;
  return { asRatio, series: sortOrder ? series.map((one) => ({ ...one, sortOrder })) : series };
}

function toOneSeries(config: TileConfig, item: SelectItem, type: Series['type'], groupBy: string[]): Series {
  const { displayType, sourceId } = config;
  return compact({
    type,
    aggFn: item.aggFn,
    field: item.valueExpression,
    groupBy,
    ...combineWhere(config, item),
    sourceId,
    metricName: item.metricName,
    metricDataType: item.metricType,
    level: item.level,
    alias: item.alias,
    displayType: displayType === 'stacked_bar' || displayType === 'stacked_line' ? displayType : undefined,
    numberFormat: item.numberFormat ?? config.numberFormat,
  });
}

/** The rules ensure that both conditions have the same language. */
function combineWhere(config: TileConfig, item: SelectItem): Pick<Series, 'where' | 'whereLanguage'> {
  const [own, shared] = [item.where ?? '', config.where ?? ''];
  if (shared.trim() === '') return { where: own, whereLanguage: item.whereLanguage ?? 'lucene' };
  const whereLanguage = config.whereLanguage ?? 'lucene';
  return { where: own.trim() === '' ? shared : `(${shared}) AND (${own})`, whereLanguage };
}

/** The config that shows the same data as the series, or the most similar one: it has one source and one `groupBy`. */
export function toConfig({ asRatio, series }: SeriesForm): TileConfig {
  const [first] = series;
  if (!first) return { displayType: 'markdown', markdown: '' };
  const { type, where, whereLanguage } = first;
  if (type === 'markdown') return { displayType: type, markdown: first.content ?? '' };
  const sourceId = getSourceId(first);
  if (type === 'search')
    return { displayType: type, sourceId, select: joinExpressions(first.fields ?? []), where, whereLanguage };
  if (isDistributionSeries(first)) {
    const select = [compact({ valueExpression: first.field ?? '', alias: first.alias })];
    const displayType = type === 'heatmap' ? type : 'histogram';
    return compact({ displayType, sourceId, select, where, whereLanguage, numberFormat: first.numberFormat });
  }
  const format = first.numberFormat;
  const isShared = series.every(({ numberFormat }) => isDeepStrictEqual(numberFormat, format));
  return compact({
    displayType: type === 'time' ? (first.displayType ?? 'line') : type,
    heatmapMode: type === 'heatmap' ? ('series' as const) : undefined,
    sourceId,
    select: series.map((one) => toItem(one, !isShared)),
    groupBy: type === 'number' || first.groupBy.length === 0 ? undefined : joinExpressions(first.groupBy),
    orderBy: type === 'table' && first.sortOrder ? formatOrder(first, first.sortOrder) : undefined,
    asRatio: asRatio && series.length === 2 ? true : undefined,
    numberFormat: isShared ? format : undefined,
  });
}

function toItem(
  { aggFn, field, alias, level, where, whereLanguage, ...series }: Series,
  withFormat: boolean,
): SelectItem {
  return compact({
    aggFn,
    valueExpression: field,
    alias,
    level,
    where,
    whereLanguage,
    metricName: series.metricName,
    metricType: series.metricDataType,
    numberFormat: withFormat ? series.numberFormat : undefined,
  });
}

/** A heatmap with an aggregation has a row per group; without one it shows how a value is distributed. */
export const isDistributionSeries = ({ type, aggFn }: Pick<Series, 'type' | 'aggFn'>): boolean =>
  type === 'histogram' || (type === 'heatmap' && aggFn === undefined);

/** The source that a series reads. */
function getSourceId({ sourceId, dataSource, metricName }: Series): string {
  return sourceId ?? (dataSource === 'metrics' || metricName !== undefined ? 'metrics' : 'logs');
}

/** Whether both show the same. Members that have no effect are not compared. */
export const isSameMeaning = (one: SeriesForm, other: SeriesForm): boolean =>
  isDeepStrictEqual(reduce(one), reduce(other));

/** Only the members that affect what the tile shows, with their defaults. */
function reduce({ asRatio, series }: SeriesForm): unknown {
  const [first] = series;
  if (!first) return [];
  const { type, where, whereLanguage, fields, content, field, alias, numberFormat } = first;
  const sourceId = getSourceId(first);
  if (type === 'markdown') return { type, content };
  if (type === 'search') return { type, sourceId, where, whereLanguage, fields };
  if (isDistributionSeries(first)) return { type, sourceId, where, whereLanguage, field, alias, numberFormat };
  return {
    asRatio: asRatio && series.length === 2,
    displayType: type === 'time' ? (first.displayType ?? 'line') : undefined,
    sortOrder: type === 'table' ? first.sortOrder : undefined,
    series: series.map((one) => {
      const {
        dataSource: _,
        displayType: _d,
        sortOrder: _o,
        content: _c,
        fields: _f,
        sourceId: _s,
        groupBy,
        ...rest
      } = one;
      return { sourceId: getSourceId(one), groupBy: type === 'number' ? [] : groupBy, ...rest };
    }),
  };
}
