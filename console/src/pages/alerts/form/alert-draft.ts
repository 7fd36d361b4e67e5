import type { Alert, AlertInput, AlertQuietHours } from '../../../api/generated.ts';
import { type Condition, hasTwoLimits } from '../../../parts/alerts/alert-status.ts';
import { createNameValue, type NameValue, toRecord } from '../../../parts/forms/name-values.tsx';
import { createSeries } from '../../dashboards/editor/draft.ts';
import type { Series } from '../../dashboards/queries.ts';
import { formatDateTimeField, parseDateTimeField } from '../../dashboards/time-window/range.ts';
import type { NewAlertSearch } from '../search.ts';

type Source = Alert['source'];
/** A string while the input is not a number. */
type NumberField = number | string;
export type Day = NonNullable<AlertQuietHours['ranges'][number]['days']>[number];

export interface QuietRange {
  /** For React. */
  key: string;
  days: Day[];
  start: string;
  end: string;
}

/** State of the form. Empty numbers mean the default. */
export interface AlertDraft {
  source: Source;
  savedSearchId: string | null;
  dashboardId: string | null;
  tileId: string | null;
  series: Series;
  condition: Condition | null;
  groupBy: string;
  interval: Alert['interval'];
  thresholdType: Alert['thresholdType'];
  threshold: NumberField;
  thresholdMax: NumberField;
  /** Undefined: not chosen yet. */
  channelIds: string[] | undefined;
  name: string;
  message: string;
  note: string;
  pendingMinutes: NumberField;
  numConsecutiveWindows: NumberField;
  keepFiringMinutes: NumberField;
  repeatMinutes: NumberField;
  evaluationDelaySeconds: NumberField;
  noDataBehavior: NonNullable<AlertInput['noDataBehavior']>;
  errorBehavior: NonNullable<AlertInput['errorBehavior']>;
  severity: NonNullable<AlertInput['severity']>;
  labels: NameValue[];
  runbookUrl: string;
  owner: string;
  timezone: string;
  scheduleOffsetMinutes: NumberField;
  /** The value of a `datetime-local` field, in the local time zone; empty for none. */
  scheduleStartAt: string;
  /** Without ranges there are no quiet hours. */
  quietRanges: QuietRange[];
}

/** A threshold to start with. */
export const CONDITION_DEFAULTS: Readonly<Record<Condition, Pick<AlertDraft, 'thresholdType' | 'threshold'>>> = {
  service_degraded_minutes: { thresholdType: 'above', threshold: 10 },
  service_waking_minutes: { thresholdType: 'above', threshold: 10 },
  service_drift_minutes: { thresholdType: 'above', threshold: 30 },
  service_backup_late_minutes: { thresholdType: 'above', threshold: 120 },
  service_backup_failed_minutes: { thresholdType: 'above', threshold: 1 },
  key_expiry_days: { thresholdType: 'below', threshold: 14 },
  budget_percent: { thresholdType: 'above', threshold: 80 },
  rejected_telemetry_records: { thresholdType: 'above', threshold: 1 },
};

const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export const createRange = (range: Partial<QuietRange> = {}): QuietRange => ({
  days: [],
  start: '22:00',
  end: '06:00',
  ...range,
  key: createNameValue().key,
});

export const createAlertDraft = ({ savedSearchId, dashboardId, tileId }: NewAlertSearch): AlertDraft => ({
  source: dashboardId ? 'tile' : 'saved_search',
  savedSearchId: savedSearchId ?? null,
  dashboardId: dashboardId ?? null,
  tileId: tileId ?? null,
  series: createSeries('number', ''),
  condition: null,
  groupBy: '',
  interval: '5m',
  thresholdType: 'above',
  threshold: 1,
  thresholdMax: '',
  channelIds: undefined,
  name: '',
  message: '',
  note: '',
  pendingMinutes: '',
  numConsecutiveWindows: '',
  keepFiringMinutes: '',
  repeatMinutes: '',
  evaluationDelaySeconds: '',
  noDataBehavior: 'no_data',
  errorBehavior: 'error',
  severity: 'error',
  labels: [],
  runbookUrl: '',
  owner: '',
  timezone: localZone(),
  scheduleOffsetMinutes: '',
  scheduleStartAt: '',
  quietRanges: [],
});

export function toAlertDraft(alert: Alert): AlertDraft {
  const { metric } = alert;
  const fresh = createAlertDraft({});
  return {
    ...fresh,
    source: alert.source,
    savedSearchId: alert.savedSearchId ?? null,
    dashboardId: alert.dashboardId ?? null,
    tileId: alert.tileId ?? null,
    series: metric ? ({ ...fresh.series, ...metric } as Series) : fresh.series,
    condition: alert.condition ?? null,
    groupBy: alert.groupBy ?? '',
    interval: alert.interval,
    thresholdType: alert.thresholdType,
    threshold: alert.threshold,
    thresholdMax: alert.thresholdMax ?? '',
    channelIds: alert.channels.map(({ webhookId }) => webhookId),
    name: alert.name ?? '',
    message: alert.message ?? '',
    note: alert.note ?? '',
    ...toTimesDraft(alert),
    noDataBehavior: alert.noDataBehavior ?? fresh.noDataBehavior,
    errorBehavior: alert.errorBehavior ?? fresh.errorBehavior,
    severity: alert.severity ?? fresh.severity,
    labels: Object.entries(alert.labels ?? {}).map(([name, value]) => createNameValue(name, String(value))),
    runbookUrl: alert.runbookUrl ?? '',
    owner: alert.owner ?? '',
    ...(alert.quietHours ? toQuietDraft(alert.quietHours) : {}),
  };
}

const toTimesDraft = (alert: Alert) => ({
  pendingMinutes: alert.pendingMinutes ?? '',
  numConsecutiveWindows: alert.numConsecutiveWindows ?? '',
  keepFiringMinutes: alert.keepFiringMinutes ?? '',
  repeatMinutes: alert.repeatMinutes ?? '',
  evaluationDelaySeconds: alert.evaluationDelaySeconds ?? '',
  scheduleOffsetMinutes: alert.scheduleOffsetMinutes || '',
  scheduleStartAt: alert.scheduleStartAt ? formatDateTimeField(Date.parse(alert.scheduleStartAt), false) : '',
});

const toQuietDraft = ({ timezone, ranges }: AlertQuietHours) => ({
  timezone,
  quietRanges: ranges.map(({ days = [], start, end }) => createRange({ days, start, end })),
});

/** The server checks the values, so they are sent as they are; an empty one is left out or set to its default. */
export function toAlertBody(draft: AlertDraft, channelIds: readonly string[], before?: Alert): AlertInput {
  const toText = (text: string) => (text.trim() === '' ? null : text.trim());
  const toNumber = (value: NumberField) => (value === '' ? null : Number(value));
  return {
    source: draft.source,
    ...toSource(draft),
    interval: draft.interval,
    ...({ threshold: toNumber(draft.threshold) ?? undefined } as { threshold: number }),
    thresholdType: draft.thresholdType,
    thresholdMax: hasTwoLimits(draft.thresholdType) ? toNumber(draft.thresholdMax) : null,
    channels: channelIds.map((webhookId) => ({ type: 'webhook' as const, webhookId })),
    name: toText(draft.name),
    message: toText(draft.message),
    note: toText(draft.note),
    pendingMinutes: toNumber(draft.pendingMinutes),
    numConsecutiveWindows: toNumber(draft.numConsecutiveWindows),
    keepFiringMinutes: toNumber(draft.keepFiringMinutes),
    repeatMinutes: toNumber(draft.repeatMinutes),
    evaluationDelaySeconds: toNumber(draft.evaluationDelaySeconds),
    noDataBehavior: draft.noDataBehavior,
    errorBehavior: draft.errorBehavior,
    severity: draft.severity,
    labels: toRecord(draft.labels),
    runbookUrl: toText(draft.runbookUrl),
    owner: toText(draft.owner),
    quietHours: toQuietHours(draft),
    scheduleOffsetMinutes: toNumber(draft.scheduleOffsetMinutes),
    scheduleStartAt: toStart(draft.scheduleStartAt, before?.scheduleStartAt ?? null),
  };
}

/** The field has no seconds: a start that was not changed is sent as it is. */
function toStart(field: string, before: string | null): string | null {
  if (field === '') return null;
  if (before !== null && formatDateTimeField(Date.parse(before), false) === field) return before;
  const startMs = parseDateTimeField(field, false);
  return Number.isNaN(startMs) ? field : new Date(startMs).toISOString();
}

function toSource({ source, savedSearchId, dashboardId, tileId, series, condition, groupBy }: AlertDraft) {
  switch (source) {
    case 'saved_search':
      return { savedSearchId, groupBy: groupBy.trim() };
    case 'tile':
      return { dashboardId, tileId };
    case 'metric':
      return { metric: toMetric(series), groupBy: groupBy.trim() };
    case 'condition':
      return { condition };
  }
}

function toMetric(series: Series): NonNullable<AlertInput['metric']> {
  const { sourceId = '', aggFn = 'count', field, where, whereLanguage, metricName, metricDataType, level } = series;
  return {
    sourceId,
    aggFn,
    where,
    whereLanguage,
    ...(field === undefined ? {} : { field }),
    ...(metricName === undefined ? {} : { metricName }),
    ...(metricDataType === undefined ? {} : { metricDataType }),
    ...(level === undefined ? {} : { level }),
  };
}

const toQuietHours = ({ quietRanges, timezone }: AlertDraft): AlertQuietHours | null =>
  quietRanges.length === 0
    ? null
    : {
        timezone,
        ranges: quietRanges.map(({ days, start, end }) => ({ start, end, ...(days.length === 0 ? {} : { days }) })),
      };

/** Whether enough is entered for a replay. The past of a condition is not stored. */
export function canReplay({ source, savedSearchId, tileId, series, threshold }: AlertDraft): boolean {
  if (threshold === '' || source === 'condition') return false;
  if (source === 'saved_search') return savedSearchId !== null;
  return source === 'tile' ? tileId !== null : series.sourceId !== undefined && series.sourceId !== '';
}
