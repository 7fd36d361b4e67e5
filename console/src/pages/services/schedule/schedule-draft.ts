import {
  scalingScheduleUpsertConstraints as constraints,
  type ScalingScheduleGetResult,
  type ScalingScheduleUpsertBody,
} from '../../../api/generated.ts';
import { formatIdle, formatMemory, formatNumber, plural } from '../../../parts/format/format.ts';

export type ScheduleEntry = ScalingScheduleGetResult['entries'][number];
export type NewScheduleEntry = ScalingScheduleUpsertBody['entries'][number];
type Base = ScalingScheduleGetResult['baseConfig'];

export const LIMITS = constraints.entries.items.properties;
export const MAX_ENTRIES = constraints.entries.maxItems;

/** Weeks start on Monday, as in ISO 8601; the API counts from Sunday. */
export const WEEKDAYS = [
  { value: '1', label: 'Mon' },
  { value: '2', label: 'Tue' },
  { value: '3', label: 'Wed' },
  { value: '4', label: 'Thu' },
  { value: '5', label: 'Fri' },
  { value: '6', label: 'Sat' },
  { value: '0', label: 'Sun' },
];

/** State of the form; an empty field keeps the setting of the service. */
export interface EntryDraft {
  name: string;
  weekdays: string[];
  startHour: number | '';
  endHour: number | '';
  /** '' is UTC. */
  timeZone: string;
  minMemory: number | '';
  maxMemory: number | '';
  minReplicas: number | '';
  maxReplicas: number | '';
  idling: 'service' | 'on' | 'off';
  idleTimeout: number | '';
}

export const createEntryDraft = (): EntryDraft => ({
  name: '',
  weekdays: ['1', '2', '3', '4', '5'],
  startHour: 8,
  endHour: 18,
  timeZone: '',
  minMemory: '',
  maxMemory: '',
  minReplicas: '',
  maxReplicas: '',
  idling: 'service',
  idleTimeout: '',
});

export const toEntryDraft = (entry: ScheduleEntry): EntryDraft => ({
  name: entry.name,
  weekdays: entry.weekdays.map(String),
  startHour: entry.startHourUtc,
  endHour: entry.endHourUtc,
  timeZone: entry.timeZone ?? '',
  minMemory: entry.minReplicaMemoryGb ?? '',
  maxMemory: entry.maxReplicaMemoryGb ?? '',
  minReplicas: entry.minReplicas ?? '',
  maxReplicas: entry.maxReplicas ?? '',
  idling: entry.idleScaling === undefined ? 'service' : entry.idleScaling ? 'on' : 'off',
  idleTimeout: entry.idleTimeoutMinutes ?? '',
});

/** The entry without what the server adds. The mode is sent only where it differs from that of the service. */
export function toStoredEntry(entry: ScheduleEntry, base: Base): NewScheduleEntry {
  const { id: _id, isActiveNow: _isActiveNow, autoscalingMode, ...others } = entry;
  return { ...others, ...(autoscalingMode === base.autoscalingMode ? {} : { autoscalingMode }) };
}

/** The server checks the rules. `replaced` has the fields that the form does not show. */
export function toNewEntry(draft: EntryDraft, replaced: NewScheduleEntry | undefined): NewScheduleEntry {
  const given = <Name extends keyof NewScheduleEntry>(name: Name, value: number | '') =>
    value === '' ? {} : { [name]: value };
  return {
    name: draft.name.trim(),
    weekdays: draft.weekdays.map(Number),
    startHourUtc: Number(draft.startHour),
    endHourUtc: Number(draft.endHour),
    ...(draft.timeZone === '' ? {} : { timeZone: draft.timeZone }),
    ...(replaced?.autoscalingMode === undefined ? {} : { autoscalingMode: replaced.autoscalingMode }),
    ...given('minReplicaMemoryGb', draft.minMemory),
    ...given('maxReplicaMemoryGb', draft.maxMemory),
    ...given('minReplicas', draft.minReplicas),
    ...given('maxReplicas', draft.maxReplicas),
    ...(draft.idling === 'service' ? {} : { idleScaling: draft.idling === 'on' }),
    ...given('idleTimeoutMinutes', draft.idleTimeout),
  };
}

/** "Mon–Fri", "Every day", "Mon, Wed". */
export function formatWeekdays(weekdays: readonly number[]): string {
  if (weekdays.length === WEEKDAYS.length) return 'Every day';
  const positions = WEEKDAYS.flatMap(({ value }, index) => (weekdays.includes(Number(value)) ? [index] : []));
  const labels = positions.map((index) => WEEKDAYS[index]?.label ?? '');
  const isRange = labels.length > 2 && (positions.at(-1) ?? 0) - (positions[0] ?? 0) === positions.length - 1;
  return isRange ? `${labels[0]}–${labels.at(-1)}` : labels.join(', ');
}

const formatHour = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;

/** "08:00–18:00 UTC". */
export const formatWindow = ({ startHourUtc, endHourUtc, timeZone }: ScheduleEntry): string =>
  `${formatHour(startHourUtc)}–${formatHour(endHourUtc)}${endHourUtc < startHourUtc ? ' (next day)' : ''} ${timeZone ?? 'UTC'}`;

const formatRange = (min: number, max: number): string =>
  min === max ? formatNumber(min) : `${formatNumber(min)}–${formatNumber(max)}`;

/** The settings that replace those of the service. */
export function listSettings(entry: Partial<Omit<ScheduleEntry, 'name'>>): string[] {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max, minReplicas, maxReplicas } = entry;
  const memory = min === undefined || max === undefined ? [] : [`${formatRange(min, max)} GB per replica`];
  const replicas =
    minReplicas === undefined || maxReplicas === undefined
      ? []
      : [
          minReplicas === maxReplicas
            ? plural(minReplicas, 'replica')
            : `${formatRange(minReplicas, maxReplicas)} replicas`,
        ];
  return [...memory, ...replicas, ...listIdling(entry)];
}

function listIdling({
  idleScaling,
  idleTimeoutMinutes,
}: Pick<Partial<ScheduleEntry>, 'idleScaling' | 'idleTimeoutMinutes'>): string[] {
  if (idleScaling === false) return [formatIdle(false, 0)];
  if (idleTimeoutMinutes !== undefined) return [formatIdle(true, idleTimeoutMinutes)];
  return idleScaling ? ['Idles'] : [];
}

export const formatBase = ({ minReplicaMemoryGb, maxReplicaMemoryGb, ...base }: Base): string =>
  listSettings({ minReplicaMemoryGb, maxReplicaMemoryGb, ...base }).join(' · ') || formatMemory(minReplicaMemoryGb);
