import { DAY_MS } from '../../kernel/time/clock.ts';
import type { NoDataBehavior, ThresholdType } from './alert-schema.ts';

/** What decides the state of a group. */
export interface Rule {
  threshold: number;
  thresholdMax: number | null;
  thresholdType: ThresholdType;
  stepMs: number;
  /** Consecutive windows beyond the threshold, or without a value, before the state changes. */
  windowsToFire: number;
  /** Consecutive normal windows before a firing group is resolved. */
  windowsToResolve: number;
  noData: NoDataBehavior;
  /** A window without rows has the value 0. */
  isCount: boolean;
  /** Groups without a value do not exist any more, so that they are resolved at once. */
  forgetsMissing: boolean;
}

type GroupStatus = 'ok' | 'pending' | 'firing' | 'no_data';

/** The state of a group after its last window. Times are ends of windows in epoch milliseconds. */
export interface GroupState {
  labels: readonly string[];
  status: GroupStatus;
  since: number;
  /**
   * Consecutive windows beyond the threshold, without a value (see `countMissing`), and normal ones while firing.
   */
  breached: number;
  missing: number;
  cleared: number;
  value: number | null;
  /** The last window that had a value. 0: the group is forgotten, and kept only until that is sent. */
  seenAt: number;
  /** What was last sent, and when. Undefined if nothing was sent since the group was last ok. */
  announced?: Announced | undefined;
}

export interface Announced {
  status: 'firing' | 'no_data';
  at: number;
  isShared: boolean;
  /** The ids of all channels that it was sent to. Missing if it was stored before they were: then those of the alert. */
  channels?: readonly string[] | undefined;
}

/** By the text of `toGroupKey`. */
export type Groups = Map<string, GroupState>;

export interface GroupValue {
  labels: readonly string[];
  /** null: the group has no value in this window. */
  value: number | null;
}

export const toGroupKey = (labels: readonly string[]): string => JSON.stringify(labels);

/** The only group of an alert without groupBy. With groupBy, it stands for an alert that has no groups. */
const UNNAMED_KEY = toGroupKey([]);

/** A group without values is forgotten after a day, and not before so many windows. */
const FORGET_AFTER = { windows: 10, ms: DAY_MS };

const BREACHES: Record<ThresholdType, (value: number, threshold: number, max: number) => boolean> = {
  above: (value, threshold) => value >= threshold,
  below: (value, threshold) => value < threshold,
  above_exclusive: (value, threshold) => value > threshold,
  below_or_equal: (value, threshold) => value <= threshold,
  equal: (value, threshold) => value === threshold,
  not_equal: (value, threshold) => value !== threshold,
  between: (value, threshold, max) => value >= threshold && value <= max,
  not_between: (value, threshold, max) => value < threshold || value > max,
};

export const isBreach = (
  { threshold, thresholdMax, thresholdType }: Pick<Rule, 'threshold' | 'thresholdMax' | 'thresholdType'>,
  value: number,
): boolean => BREACHES[thresholdType](value, threshold, thresholdMax ?? threshold);

type Outcome = 'breach' | 'clear' | 'missing' | 'keep';

function findOutcome(rule: Rule, value: number | null): Outcome {
  if (value !== null) return isBreach(rule, value) ? 'breach' : 'clear';
  if (rule.isCount) return isBreach(rule, 0) ? 'breach' : 'clear';
  return { no_data: 'missing', alert: 'breach', ok: 'clear', keep: 'keep' }[rule.noData] as Outcome;
}

/** Whether a group that no longer has rows can be anything but ok, so that it must be remembered. */
const isAbsenceRelevant = (rule: Rule): boolean => {
  const outcome = findOutcome(rule, null);
  return outcome === 'breach' || outcome === 'missing';
};

/** The states after one more window. Groups that are ok and may be forgotten are not in the result. */
export function judgeWindow(rule: Rule, before: Groups, values: readonly GroupValue[], endMs: number): Groups {
  const after: Groups = new Map();
  const seen = new Set<string>();
  let remembered = 0;
  const keepsOk = isAbsenceRelevant(rule);
  const add = (key: string, state: GroupState) => {
    if (state.status !== 'ok' || state.announced || keepsOk) after.set(key, state);
  };
  for (const { labels, value } of values) {
    const key = toGroupKey(labels);
    seen.add(key);
    add(key, judgeGroup(rule, before.get(key), { labels, value }, endMs));
  }
  for (const [key, state] of before) {
    if (seen.has(key) || key === UNNAMED_KEY) continue;
    if (!isForgotten(rule, state, endMs)) {
      remembered++;
      add(key, judgeGroup(rule, state, { labels: state.labels, value: null }, endMs));
    } else if (state.announced) after.set(key, forget(state, endMs));
  }
  if (seen.has(UNNAMED_KEY)) return after;
  const unnamed = before.get(UNNAMED_KEY);
  if (remembered + seen.size === 0 && !rule.forgetsMissing)
    add(UNNAMED_KEY, judgeGroup(rule, unnamed, { labels: [], value: null }, endMs));
  else if (unnamed?.announced) after.set(UNNAMED_KEY, forget(unnamed, endMs));
  return after;
}

/** Whether a group without a value is not judged any more. */
const isForgotten = ({ forgetsMissing, stepMs }: Rule, { seenAt }: GroupState, endMs: number): boolean =>
  forgetsMissing || endMs - seenAt >= Math.max(FORGET_AFTER.windows * stepMs, FORGET_AFTER.ms);

const NO_COUNTS = { breached: 0, missing: 0, cleared: 0 };

/** The group is resolved, since it no longer exists. */
const forget = (state: GroupState, endMs: number): GroupState => ({
  ...state,
  ...NO_COUNTS,
  status: 'ok',
  since: state.status === 'ok' ? state.since : endMs,
  value: null,
  seenAt: 0,
});

function judgeGroup(
  rule: Rule,
  state: GroupState | undefined,
  { labels, value }: GroupValue,
  endMs: number,
): GroupState {
  const before = state ?? { labels, status: 'ok', since: endMs, ...NO_COUNTS, value: null, seenAt: endMs };
  const seenAt = value === null ? before.seenAt : endMs;
  const outcome = findOutcome(rule, value);
  if (outcome === 'keep') return { ...before, value, seenAt };
  const breached = outcome === 'breach' ? before.breached + 1 : 0;
  const missing = countMissing(rule, before, outcome, breached);
  const cleared = outcome === 'clear' && before.status === 'firing' ? before.cleared + 1 : 0;
  const status = findStatus(rule, before.status, outcome, { breached, missing, cleared });
  // Not copied with `...`, which takes several times as long: an alert can have 10,000 groups.
  return {
    labels: before.labels,
    status,
    since: status === before.status ? before.since : endMs,
    breached,
    missing,
    cleared: status === 'ok' ? 0 : cleared,
    value: value ?? (rule.isCount ? 0 : null),
    seenAt,
    announced: before.announced,
  };
}

/**
 * A window beyond the threshold does not end that there is no data, until the group fires: if the next window has no value
 * either, there was no normal window, and nothing is resolved.
 */
function countMissing(rule: Rule, { status, missing }: GroupState, outcome: Outcome, breached: number): number {
  if (outcome === 'missing') return missing + 1;
  const isUncertain = status === 'no_data' || status === 'pending';
  return outcome === 'breach' && isUncertain && breached < rule.windowsToFire ? missing : 0;
}

function findStatus(
  { windowsToFire, windowsToResolve }: Rule,
  before: GroupStatus,
  outcome: Exclude<Outcome, 'keep'>,
  { breached, missing, cleared }: typeof NO_COUNTS,
): GroupStatus {
  if (outcome === 'breach') return before === 'firing' || breached >= windowsToFire ? 'firing' : 'pending';
  if (outcome === 'clear') return before === 'firing' && cleared < windowsToResolve ? 'firing' : 'ok';
  if (missing >= windowsToFire) return 'no_data';
  return before === 'pending' ? 'ok' : before;
}

const ORDER: readonly GroupStatus[] = ['ok', 'pending', 'no_data', 'firing'];

/** The worst state of all groups. */
export function findWorst(groups: Iterable<GroupState>): GroupStatus {
  let worst = 0;
  for (const { status } of groups) worst = Math.max(worst, ORDER.indexOf(status));
  return ORDER[worst] ?? 'ok';
}
