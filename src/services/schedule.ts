import type { Violation } from '../kernel/errors.ts';
import { applyScalingChange, mergeScaling, type ScalingChange } from './scaling.ts';
import type { ScalingContext } from './scaling-limits.ts';
import type { Scaling, Service } from './service.ts';
import type { ScheduleEntry } from './service-settings.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAYS_PER_WEEK = 7;

/** Whether the time is in the window of the entry. A window may continue after midnight of its last hour's day. */
function isActive({ weekdays, startHourUtc, endHourUtc }: ScheduleEntry, now: number): boolean {
  const date = new Date(now);
  const [day, hour] = [date.getUTCDay(), date.getUTCHours()];
  if (startHourUtc < endHourUtc) return weekdays.includes(day) && hour >= startHourUtc && hour < endHourUtc;
  const yesterday = (day + DAYS_PER_WEEK - 1) % DAYS_PER_WEEK;
  return (weekdays.includes(day) && hour >= startHourUtc) || (weekdays.includes(yesterday) && hour < endHourUtc);
}

/** Where windows overlap, the first entry applies. */
export const findActiveEntry = (entries: readonly ScheduleEntry[], now: number): ScheduleEntry | undefined =>
  entries.find((entry) => isActive(entry, now));

/** Windows start and end at full hours. */
const getNextHour = (now: number): number => (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;

/** The settings of the service, with those of the active entry of its schedule in their place. */
export function getEffectiveScaling(
  { scaling, settings }: Pick<Service, 'scaling' | 'settings'>,
  now: number,
): { scaling: Scaling; activeEntry?: ScheduleEntry; until: number } {
  const entries = settings?.scalingSchedule;
  if (!entries) return { scaling, until: Number.POSITIVE_INFINITY };
  const activeEntry = findActiveEntry(entries, now);
  const until = getNextHour(now);
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
