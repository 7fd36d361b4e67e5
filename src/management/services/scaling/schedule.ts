import type { Violation } from '../../../kernel/errors.ts';
import { memoize } from '../../../kernel/memo.ts';
import { HOUR_MS, MINUTE_MS } from '../../../kernel/time/clock.ts';
import { findZone } from '../../../kernel/time/zone.ts';
import { getMaxReplicas, type Scaling, type Service, type ServiceSize } from '../service.ts';
import type { ScheduleEntry } from '../service-settings.ts';
import { applyScalingChange, mergeScaling, type ScalingChange } from './scaling.ts';
import type { ScalingContext } from './scaling-limits.ts';

const DAYS_PER_WEEK = 7;
/** Offsets of time zones are multiples of it. */
const QUARTER_HOUR_MS = 15 * MINUTE_MS;

/** Creating a zone takes a thousand times as long as using it. */
const findKnownZone = memoize(findZone, 100);

/** The time that clocks in the zone show, as if it were UTC. */
const toLocal = (now: number, timeZone: string | undefined): number =>
  timeZone === undefined ? now : now + (findKnownZone(timeZone)?.offsetAt(now) ?? 0);

/**
 * Whether the time is in the window of the entry. A window may continue after midnight of its last hour's day. Hours that
 * a clock change skips are missing from a window, and hours that it repeats are in it twice.
 */
function isActive({ weekdays, startHourUtc, endHourUtc, timeZone }: ScheduleEntry, now: number): boolean {
  const date = new Date(toLocal(now, timeZone));
  const [day, hour] = [date.getUTCDay(), date.getUTCHours()];
  if (startHourUtc < endHourUtc) return weekdays.includes(day) && hour >= startHourUtc && hour < endHourUtc;
  const yesterday = (day + DAYS_PER_WEEK - 1) % DAYS_PER_WEEK;
  return (weekdays.includes(day) && hour >= startHourUtc) || (weekdays.includes(yesterday) && hour < endHourUtc);
}

/** Where windows overlap, the first entry applies. */
export const findActiveEntry = (entries: readonly ScheduleEntry[], now: number): ScheduleEntry | undefined =>
  entries.find((entry) => isActive(entry, now));

/** Windows start and end at full hours, of local time in a time zone. */
function getNextBoundary(entries: readonly ScheduleEntry[], now: number): number {
  const stepMs = entries.some(({ timeZone }) => timeZone !== undefined) ? QUARTER_HOUR_MS : HOUR_MS;
  return (Math.floor(now / stepMs) + 1) * stepMs;
}

/** The settings of the service, with those of the active entry of its schedule in their place. */
export function getEffectiveScaling(
  { scaling, settings }: Pick<Service, 'scaling' | 'settings'>,
  now: number,
): { scaling: Scaling; activeEntry?: ScheduleEntry; until: number } {
  const entries = settings?.scalingSchedule;
  if (!entries) return { scaling, until: Number.POSITIVE_INFINITY };
  const activeEntry = findActiveEntry(entries, now);
  const until = getNextBoundary(entries, now);
  return activeEntry
    ? { scaling: mergeScaling(scaling, toChange(activeEntry)), activeEntry, until }
    : { scaling, until };
}

const toChange = (entry: ScheduleEntry): ScalingChange => ({
  autoscalingMode: entry.autoscalingMode,
  minReplicaMemoryGb: entry.minReplicaMemoryGb,
  maxReplicaMemoryGb: entry.maxReplicaMemoryGb,
  minReplicas: entry.minReplicas,
  maxReplicas: entry.maxReplicas,
  idleScaling: entry.idleScaling,
  idleTimeoutMinutes: entry.idleTimeoutMinutes,
});

/** The rules of the entries, and of the service with each of them. Paths are relative to the list. */
export function scheduleViolations(
  entries: readonly ScheduleEntry[],
  scaling: Scaling,
  context: ScalingContext,
): Violation[] {
  return entries.flatMap((entry, index) => {
    const violations = [
      ...windowViolations(entry),
      ...pairViolations(entry, 'minReplicaMemoryGb', 'maxReplicaMemoryGb'),
      ...pairViolations(entry, 'minReplicas', 'maxReplicas'),
    ];
    const rules = violations.length > 0 ? violations : applyScalingChange(scaling, toChange(entry), context).violations;
    return rules.map((violation) => ({ ...violation, path: `[${index}].${violation.path}` }));
  });
}

const windowViolations = ({ startHourUtc, endHourUtc }: ScheduleEntry): Violation[] =>
  startHourUtc === endHourUtc
    ? [
        {
          path: 'endHourUtc',
          rule: 'The value must differ from startHourUtc; 0 to 24 is a whole day',
          value: endHourUtc,
        },
      ]
    : [];

type Bound = 'minReplicaMemoryGb' | 'maxReplicaMemoryGb' | 'minReplicas' | 'maxReplicas';

/** Given alone, a bound could contradict a later change of the service. */
const pairViolations = (entry: ScheduleEntry, min: Bound, max: Bound): Violation[] =>
  (entry[min] === undefined) === (entry[max] === undefined)
    ? []
    : [
        {
          path: entry[min] === undefined ? max : min,
          rule: `${min} and ${max} must be given together`,
          value: entry[min] ?? entry[max],
        },
      ];

/** The size that the service is to have: what autoscaling chose, or else the minimum, within the limits in effect. */
export function getWantedSize(service: Pick<Service, 'scaling' | 'settings' | 'size'>, now: number): ServiceSize {
  const { scaling } = getEffectiveScaling(service, now);
  const { minReplicaMemoryGb, maxReplicaMemoryGb, numReplicas } = scaling;
  return {
    memoryGb: clamp(service.size?.memoryGb ?? minReplicaMemoryGb, minReplicaMemoryGb, maxReplicaMemoryGb),
    replicas: clamp(service.size?.replicas ?? numReplicas, numReplicas, getMaxReplicas(scaling)),
  };
}

const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max);
