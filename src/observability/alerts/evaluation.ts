import type { AlertStatus, ErrorType } from './alert-schema.ts';
import type { AlertValues } from './alert-values.ts';
import { type Announcement, type Announcing, findAnnouncement, markAnnounced } from './announcement.ts';
import { findWorst, type GroupState, type Groups, isBreach, judgeWindow, type Rule } from './judgement.ts';
import type { Windows } from './windows.ts';

/** What one evaluation of one window saw, as it is stored. Times are epoch milliseconds. */
export interface Evaluation {
  evaluatedAt: number;
  windowEnd: number;
  status: AlertStatus;
  /** The status is not that of the window before. */
  isChange: boolean;
  /** The worst value. */
  value: number | null;
  groups: number;
  firing: number;
  /** Groups that are not ok, at most `MAX_SHOWN_GROUPS`. */
  shown: { labels: readonly string[]; status: string; value: number | null }[];
  queryMs: number;
  /** Windows before this one that were not evaluated. */
  skipped?: number;
  error?: { type: ErrorType; message: string };
}

const MAX_SHOWN_GROUPS = 20;

export interface SentAnnouncement {
  kind: Announcement;
  key: string;
  group: GroupState;
}

interface Judged {
  groups: Groups;
  evaluations: Evaluation[];
}

/** Judges windows one after the other. */
export function judgeWindows(
  rule: Rule,
  before: Groups,
  status: AlertStatus,
  windows: Windows,
  { windows: values }: Pick<AlertValues, 'windows'>,
  { evaluatedAt, queryMs }: { evaluatedAt: number; queryMs: number },
): Judged {
  let groups = before;
  let last: AlertStatus = status;
  const evaluations = values.map((list, index): Evaluation => {
    const windowEnd = windows.startMs + (index + 1) * windows.stepMs;
    groups = judgeWindow(rule, groups, list, windowEnd);
    const worst = findWorst(groups.values());
    const isChange = worst !== last;
    last = worst;
    return {
      evaluatedAt,
      windowEnd,
      status: worst,
      isChange,
      value: findWorstValue(
        rule,
        list.map(({ value }) => value),
      ),
      groups: list.length,
      firing: countFiring(groups),
      shown: listShown(groups),
      queryMs,
      ...(index === 0 && windows.skipped > 0 && { skipped: windows.skipped }),
    };
  });
  return { groups, evaluations };
}

export function countFiring(groups: Groups): number {
  let count = 0;
  for (const { status } of groups.values()) if (status === 'firing') count++;
  return count;
}

function listShown(groups: Groups): Evaluation['shown'] {
  const shown: Evaluation['shown'] = [];
  for (const { labels, status, value } of groups.values()) {
    if (status === 'ok') continue;
    if (shown.length === MAX_SHOWN_GROUPS) break;
    shown.push({ labels, status, value });
  }
  return shown;
}

/** The value that is furthest in the direction of the threshold; a value that breaches it before one that does not. */
function findWorstValue(rule: Rule, values: readonly (number | null)[]): number | null {
  const isLow = rule.thresholdType === 'below' || rule.thresholdType === 'below_or_equal';
  let worst: number | null = null;
  for (const value of values) {
    if (value === null) continue;
    const isWorse =
      worst === null ||
      (isBreach(rule, value) && !isBreach(rule, worst)) ||
      (isBreach(rule, value) === isBreach(rule, worst) && (isLow ? value < worst : value > worst));
    if (isWorse) worst = value;
  }
  return worst ?? (rule.isCount ? 0 : null);
}

/** What has to be sent now, and the groups after that. */
export function announce(
  groups: Groups,
  announcing: Announcing,
  nowMs: number,
): { groups: Groups; sent: SentAnnouncement[] } {
  const sent: SentAnnouncement[] = [];
  const after: Groups = new Map();
  for (const [key, group] of groups) {
    const kind = findAnnouncement(group, announcing, nowMs);
    if (kind === undefined) {
      after.set(key, group);
      continue;
    }
    sent.push({ kind, key, group });
    after.set(key, markAnnounced(group, kind, nowMs));
  }
  return { groups: after, sent };
}
