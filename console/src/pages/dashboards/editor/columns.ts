import type { ListSourcesResult } from '../../../api/generated.ts';
import type { Dashboard, Series } from '../queries.ts';

export type Source = ListSourcesResult[number];
export type SourceKind = Source['kind'];

const RESOURCE = ['ServiceName', "ResourceAttributes['service.name']", "ResourceAttributes['k8s.pod.name']"];

/** The columns of the OpenTelemetry tables. */
const COLUMNS: Record<SourceKind, string[]> = {
  log: [
    'Timestamp',
    'Body',
    'SeverityText',
    'SeverityNumber',
    'TraceId',
    'SpanId',
    'ScopeName',
    ...RESOURCE,
    "LogAttributes['…']",
  ],
  trace: [
    ...[
      'Timestamp',
      'SpanName',
      'SpanKind',
      'StatusCode',
      'StatusMessage',
      'Duration',
      'TraceId',
      'SpanId',
      'ParentSpanId',
    ],
    ...['ScopeName', ...RESOURCE, "SpanAttributes['…']"],
  ],
  metric: ['MetricName', 'MetricUnit', 'Value', ...RESOURCE, "Attributes['…']"],
};

/** What the other dashboards ask of a source: their attributes and metrics are the ones that are worth offering. */
export interface Known {
  expressions: string[];
  metrics: string[];
}

export function knownOf(dashboards: readonly Dashboard[], source: Source | undefined): Known {
  const series = dashboards.flatMap(({ tiles }) => tiles.flatMap((tile) => tile.series));
  const own = series.filter(({ sourceId }) => sourceId === source?.id);
  const asked = own.flatMap(({ groupBy, field, fields = [] }: Series) => [
    ...groupBy,
    ...fields,
    ...(field ? [field] : []),
  ]);
  return {
    expressions: [...new Set([...(source ? COLUMNS[source.kind] : []), ...asked])],
    metrics: [...new Set(own.flatMap(({ metricName }) => metricName ?? []))].toSorted(),
  };
}

/** `LogAttributes['k8s.pod.name']` → `LogAttributes.k8s.pod.name`, as Lucene writes it; undefined for what is no plain column. */
export function luceneName(expression: string): string | undefined {
  if (/^[A-Za-z]\w*$/.test(expression)) return expression;
  const [, column, key] = /^([A-Za-z]\w*)\['([\w.-]+)'\]$/.exec(expression) ?? [];
  return column === undefined ? undefined : `${column}.${key}`;
}

/** The other way. */
export function sqlName(name: string): string {
  const [column = '', ...key] = name.split('.');
  return key.length === 0 ? column : `${column}['${key.join('.')}']`;
}
