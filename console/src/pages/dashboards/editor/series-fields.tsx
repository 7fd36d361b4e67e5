import { Autocomplete, NumberInput, SegmentedControl, Select, TagsInput, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useApi, useSession } from '../../../app/context.tsx';
import { AGGREGATIONS, seriesConstraints } from '../constraints.ts';
import type { Dashboard, Series, TimeWindow } from '../queries.ts';
import { columnsQuery, listSuggestions, type Source, toSqlName } from '../where/suggestions.ts';
import { WhereField } from '../where/where-field.tsx';
import { showsDistribution } from './draft.ts';
import classes from './editor.module.css';

interface Props {
  series: Series;
  sources: readonly Source[];
  dashboards: readonly Dashboard[];
  window: TimeWindow;
  /** Whether the series has a name of its own. */
  hasLabel?: boolean;
  errorAt: (member: string) => string | undefined;
  onChange: (series: Series) => void;
}

type Aggregation = NonNullable<Series['aggFn']>;
type MetricType = NonNullable<Series['metricDataType']>;

/** A member that is undefined or empty is removed. */
type Change = { [Name in keyof Series]?: Series[Name] | undefined };
type WhereLanguage = Series['whereLanguage'];

/** The aggregations available for a type of data, and the one in use. */
const listAggregations = (dataType: string, current: Aggregation | undefined) =>
  Object.entries(AGGREGATIONS)
    .filter(([name, { dataTypes }]) => name === current || dataTypes.some((type) => type === dataType))
    .map(([value, { label }]) => ({ value, label }));

const LANGUAGE_LABELS: Record<WhereLanguage, string> = { lucene: 'Lucene', sql: 'SQL' };
const DEFAULT_LEVEL = 0.95;
/** Shown at once; typing narrows them down. */
const MAX_SUGGESTIONS = 50;

/** Query fields of one series. */
export function SeriesFields(props: Props) {
  const { series, sources, dashboards, window, hasLabel = true, errorAt, onChange } = props;
  const api = useApi();
  const { organizationId } = useSession();
  const { data: columns } = useQuery(columnsQuery(api, organizationId, series, window));
  const suggestions = listSuggestions(dashboards, series.sourceId ?? '', columns);
  const kind = sources.find(({ id }) => id === series.sourceId)?.kind ?? 'log';
  const isSearch = series.type === 'search';
  const hasField = showsDistribution(series);
  const hasAggregation = !isSearch && !hasField;
  const isMetric = kind === 'metric';
  const change = (part: Change) => {
    const merged = Object.entries({ ...series, ...part }).filter(([, value]) => value !== undefined && value !== '');
    onChange({ where: '', ...Object.fromEntries(merged) } as Series);
  };
  const needsField = hasField || (!isMetric && !isSearch && AGGREGATIONS[series.aggFn ?? 'count'].needsField);
  return (
    <div className={classes.fields}>
      <Select
        label="Source"
        allowDeselect={false}
        data={sources.map(({ id, name }) => ({ value: id, label: name }))}
        value={series.sourceId ?? null}
        error={errorAt('sourceId')}
        onChange={(sourceId) => {
          const isNowMetric = sources.find(({ id }) => id === sourceId)?.kind === 'metric';
          change({
            sourceId: sourceId ?? undefined,
            ...(isNowMetric === isMetric
              ? {}
              : {
                  metricName: undefined,
                  metricDataType: isNowMetric ? 'gauge' : undefined,
                  field: undefined,
                  aggFn: !hasAggregation ? undefined : isNowMetric ? 'avg' : 'count',
                }),
          });
        }}
      />
      {hasAggregation && (
        <AggregationFields
          series={series}
          dataType={isMetric ? (series.metricDataType ?? 'gauge') : 'events'}
          errorAt={errorAt}
          onChange={change}
        />
      )}
      {isMetric && hasAggregation && (
        <MetricFields series={series} metrics={suggestions.metrics} errorAt={errorAt} onChange={change} />
      )}
      {needsField && (
        <Autocomplete
          label="Field"
          placeholder="Duration"
          data={suggestions.expressions}
          limit={MAX_SUGGESTIONS}
          value={series.field ?? ''}
          error={errorAt('field')}
          onChange={(field) => change({ field })}
        />
      )}
      <div className={classes.where}>
        <WhereField
          series={series}
          expressions={suggestions.expressions}
          window={window}
          error={errorAt('where')}
          onChange={(where) => change({ where })}
        />
        <SegmentedControl
          aria-label="Query language"
          size="xs"
          data={seriesConstraints.whereLanguage.values.map((value) => ({ value, label: LANGUAGE_LABELS[value] }))}
          value={series.whereLanguage}
          onChange={(language) => change({ whereLanguage: language as WhereLanguage })}
        />
      </div>
      {isSearch ? (
        <TagsInput
          label="Columns"
          description="The timestamp is always the first column"
          data={suggestions.expressions}
          limit={MAX_SUGGESTIONS}
          value={series.fields ?? []}
          error={errorAt('fields')}
          onChange={(fields) => change({ fields })}
          className={classes.wide}
        />
      ) : (
        <>
          {series.type !== 'number' && !hasField && (
            <TagsInput
              label="Group by"
              placeholder={series.groupBy.length === 0 ? toSqlName('ServiceName') : ''}
              data={suggestions.expressions}
              limit={MAX_SUGGESTIONS}
              maxTags={seriesConstraints.groupBy.maxItems}
              value={series.groupBy}
              error={errorAt('groupBy')}
              onChange={(groupBy) => change({ groupBy })}
              className={classes.wide}
            />
          )}
          {hasLabel && (
            <TextInput
              label="Label"
              placeholder="Shown in the legend"
              value={series.alias ?? ''}
              error={errorAt('alias')}
              onChange={(event) => change({ alias: event.currentTarget.value })}
            />
          )}
        </>
      )}
    </div>
  );
}

interface AggregationFieldsProps extends Pick<Props, 'series' | 'errorAt'> {
  /** `events`, or the type of a metric. */
  dataType: string;
  onChange: (part: Change) => void;
}

function AggregationFields({ series, dataType, errorAt, onChange }: AggregationFieldsProps) {
  return (
    <>
      <Select
        label="Aggregation"
        allowDeselect={false}
        data={listAggregations(dataType, series.aggFn)}
        value={series.aggFn ?? null}
        error={errorAt('aggFn')}
        onChange={(value) => {
          const aggFn = (value ?? 'count') as Aggregation;
          onChange({ aggFn, level: AGGREGATIONS[aggFn].needsLevel ? (series.level ?? DEFAULT_LEVEL) : undefined });
        }}
      />
      {AGGREGATIONS[series.aggFn ?? 'count'].needsLevel && (
        <NumberInput
          label="Quantile"
          min={seriesConstraints.level.minimum}
          max={seriesConstraints.level.maximum}
          step={0.05}
          value={series.level ?? ''}
          error={errorAt('level')}
          onChange={(level) => onChange({ level: typeof level === 'number' ? level : undefined })}
        />
      )}
    </>
  );
}

interface MetricFieldsProps extends Pick<Props, 'series' | 'errorAt'> {
  metrics: string[];
  onChange: (part: Change) => void;
}

function MetricFields({ series, metrics, errorAt, onChange }: MetricFieldsProps) {
  return (
    <>
      <Autocomplete
        label="Metric"
        placeholder="http.server.requests"
        data={metrics}
        limit={MAX_SUGGESTIONS}
        value={series.metricName ?? ''}
        error={errorAt('metricName')}
        onChange={(metricName) => onChange({ metricName })}
      />
      <Select
        label="Metric type"
        allowDeselect={false}
        data={seriesConstraints.metricDataType.values}
        value={series.metricDataType ?? 'gauge'}
        error={errorAt('metricDataType')}
        onChange={(type) => onChange({ metricDataType: (type ?? 'gauge') as MetricType })}
      />
    </>
  );
}
