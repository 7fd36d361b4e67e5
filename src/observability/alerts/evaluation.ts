import type { AlertStatus, ErrorType } from './alert-schema.ts';
import { type Announcement, type Announcing, findAnnouncement, markAnnounced, without } from './announcement.ts';
import {
  findWorst,
  type GroupState,
  type Groups,
  type GroupValue,
  isBreach,
  judgeWindow,
  type Rule,
} from './judgment.ts';

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

export interface SentAnnouncement extends Pick<Announcement, 'kind' | 'channels'> {
  key: string;
  group: GroupState;
  /** It shares an incident with other groups. */
  isShared: boolean;
}

/** Groups of an alert that have an incident of their own at a time. More share one, so that a receiver is not flooded. */
const MAX_OWN_INCIDENTS = 20;

/** The window of an evaluation, and what is not known from its values. */
type Measured = Pick<Evaluation, 'evaluatedAt' | 'windowEnd' | 'queryMs' | 'skipped'>;

/** `status` is that of the window before. */
export function evaluateWindow(
  rule: Rule,
  before: Groups,
  status: AlertStatus,
  values: readonly GroupValue[],
  { skipped, ...measured }: Measured,
): { groups: Groups; evaluation: Evaluation } {
  const groups = judgeWindow(rule, before, values, measured.windowEnd);
  const worst = findWorst(groups.values());
  const evaluation: Evaluation = {
    ...measured,
    status: worst,
    isChange: worst !== status,
    value: findWorstValue(rule, values),
    groups: values.length,
    firing: countFiring(groups),
    shown: listShown(groups),
    ...(skipped && { skipped }),
  };
  return { groups, evaluation };
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
function findWorstValue(rule: Rule, values: readonly GroupValue[]): number | null {
  const isLow = rule.thresholdType === 'below' || rule.thresholdType === 'below_or_equal';
  let worst: number | null = null;
  for (const { value } of values) {
    if (value === null) continue;
    const isWorse =
      worst === null ||
      (isBreach(rule, value) && !isBreach(rule, worst)) ||
      (isBreach(rule, value) === isBreach(rule, worst) && (isLow ? value < worst : value > worst));
    if (isWorse) worst = value;
  }
  return worst ?? (rule.isCount ? 0 : null);
}

/**
 * What has to be sent now, and the groups after that. In each channel, the shared incident is resolved with the last of
 * the groups that were announced there.
 */
export function announce(
  groups: Groups,
  announcing: Announcing,
  nowMs: number,
): { groups: Groups; sent: SentAnnouncement[]; isChange: boolean } {
  const sent: SentAnnouncement[] = [];
  const after: Groups = new Map();
  let [ownIncidents, isChange] = [0, false];
  for (const { announced } of groups.values()) if (announced && !announced.isShared) ownIncidents++;
  for (const [key, known] of groups) {
    const group = withChannels(known, announcing.channels);
    const found = findAnnouncement(group, announcing, nowMs);
    if (found || group !== known) isChange = true;
    if (found === undefined) {
      after.set(key, group);
      continue;
    }
    const isShared = group.announced ? group.announced.isShared : ++ownIncidents > MAX_OWN_INCIDENTS;
    sent.push({ ...found, key, group, isShared });
    after.set(key, markAnnounced(group, found, isShared));
  }
  const openIn = new Set<string>();
  for (const { announced } of after.values())
    if (announced?.isShared) for (const channel of announced.channels ?? []) openIn.add(channel);
  const open = [...openIn];
  const toSend = sent.map((one) =>
    one.isShared && one.kind === 'resolved' ? { ...one, channels: without(one.channels, open) } : one,
  );
  return { groups: after, sent: toSend.filter(({ channels }) => channels.length > 0), isChange };
}

/** A group that was stored before its channels were has those of the alert, which are kept from now on. */
const withChannels = (group: GroupState, channels: readonly string[]): GroupState =>
  group.announced && !group.announced.channels ? { ...group, announced: { ...group.announced, channels } } : group;
