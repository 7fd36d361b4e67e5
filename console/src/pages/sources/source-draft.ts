import type { CreateSourceBody, ListSourcesResult } from '../../api/generated.ts';

export type Source = ListSourcesResult[number];
export type SourceKind = Source['kind'];
export type MetricType = keyof NonNullable<Source['metricTables']>;

export const KIND_LABELS: Record<SourceKind, string> = { log: 'Logs', trace: 'Traces', metric: 'Metrics' };

export const METRIC_TYPES: { type: MetricType; label: string }[] = [
  { type: 'gauge', label: 'Gauge' },
  { type: 'sum', label: 'Sum' },
  { type: 'histogram', label: 'Histogram' },
  { type: 'summary', label: 'Summary' },
  { type: 'exponential histogram', label: 'Exponential histogram' },
];

export const PRECISIONS: { value: NonNullable<Source['durationPrecision']>; label: string }[] = [
  { value: 9, label: 'Nanoseconds' },
  { value: 6, label: 'Microseconds' },
  { value: 3, label: 'Milliseconds' },
  { value: 0, label: 'Seconds' },
];

/** Every organization has these, and the server changes none of them. */
const BUILT_IN_IDS = new Set([
  'logs',
  'traces',
  'metrics',
  'pilothouse-logs',
  'pilothouse-traces',
  'pilothouse-metrics',
]);
export const isBuiltIn = ({ id }: Source): boolean => BUILT_IN_IDS.has(id);

/** Texts as in the form. An empty one means the default of the kind. */
export interface SourceDraft {
  name: string;
  kind: SourceKind;
  databaseName: string;
  tableName: string;
  timestampValueExpression: string;
  bodyExpression: string;
  implicitColumnExpression: string;
  durationExpression: string;
  durationPrecision: Source['durationPrecision'];
  metricTables: Partial<Record<MetricType, string>>;
}

export const createDraft = (source?: Source): SourceDraft => ({
  name: source?.name ?? '',
  kind: source?.kind ?? 'log',
  databaseName: source?.from.databaseName ?? '',
  tableName: source?.from.tableName ?? '',
  timestampValueExpression: source?.timestampValueExpression ?? '',
  bodyExpression: source?.bodyExpression ?? '',
  implicitColumnExpression: source?.implicitColumnExpression ?? '',
  durationExpression: source?.durationExpression ?? '',
  durationPrecision: source?.durationPrecision,
  metricTables: { ...source?.metricTables },
});

/** Omits empty texts, so that the server uses its defaults. */
const pickFilled = <T extends object>(values: T): Partial<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '' && value !== undefined)) as Partial<T>;

/** The whole source: members that the form does not show, such as expressions of other clients, keep their values. */
export function toBody(draft: SourceDraft, source: Source | undefined): CreateSourceBody {
  const { id: _, from, metricTables: _tables, ...kept } = source ?? { id: '', from: {}, metricTables: {} };
  const { name, kind, databaseName, tableName, metricTables } = draft;
  const columns = {
    timestampValueExpression: draft.timestampValueExpression,
    bodyExpression: draft.bodyExpression,
    implicitColumnExpression: draft.implicitColumnExpression,
    durationExpression: draft.durationExpression,
    durationPrecision: draft.durationPrecision,
  };
  const others = Object.fromEntries(Object.entries(kept).filter(([member]) => !Object.hasOwn(columns, member)));
  return {
    ...others,
    name: name.trim(),
    kind,
    from: { ...from, ...pickFilled({ databaseName, tableName: kind === 'metric' ? '' : tableName }) },
    ...pickFilled(
      kind === 'metric' ? { timestampValueExpression: columns.timestampValueExpression } : pickColumns(kind, columns),
    ),
    ...(kind === 'metric' && Object.values(metricTables).some(Boolean)
      ? { metricTables: pickFilled(metricTables) }
      : {}),
  };
}

function pickColumns<T extends object>(kind: SourceKind, columns: T): Partial<T> {
  if (kind === 'trace') return columns;
  return Object.fromEntries(Object.entries(columns).filter(([member]) => !member.startsWith('duration'))) as Partial<T>;
}
