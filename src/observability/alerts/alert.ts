import { isDeepStrictEqual } from 'node:util';
import { createWeakEtag } from '../../kernel/etag.ts';
import { isoTime, MINUTE_MS, parseDateTime, SECOND_MS } from '../../kernel/time/clock.ts';
import type { AlertBody, AlertRecord, AlertStatus, ErrorType } from './alert-schema.ts';
import type { Rule } from './judgment.ts';
import { findNextEvaluation, findWindowStart, INTERVALS, listDueWindows, type Schedule } from './windows.ts';

type Defined<T> = { [name in keyof T]-?: Exclude<T[name], undefined> };

/** What a client sends, with every member; null for those that are not set. */
export type AlertContent = Defined<Omit<AlertBody, 'channel'>>;

interface Silence {
  by: string;
  at: number;
  until: number;
  reason: string | undefined;
}

/** What the evaluation and people have found out about an alert. Times are epoch milliseconds. */
export interface AlertState {
  status: AlertStatus;
  since: number | undefined;
  firingGroups: number;
  lastValue: number | null;
  /** The expressions whose values name the groups. */
  groupBy: readonly string[];
  /** The end of the last evaluated window. */
  evaluatedUntil: number | undefined;
  silence?: Silence | undefined;
  acknowledged?: { by: string; at: number } | undefined;
  /** The evaluation fails since then. */
  failure?: Failure | undefined;
  /** The ids of the channels that the failure was sent to, and its end was not. */
  failureSentTo?: readonly string[] | undefined;
  /** Of earlier versions: the failure was sent to the channels of the alert. */
  isFailureSent?: boolean | undefined;
  /** The source or its groups changed: groups that are not found any more are forgotten at once. */
  isRegrouped?: boolean | undefined;
}

export interface Failure {
  since: number;
  at: number;
  type: ErrorType;
  message: string;
  attempts: number;
}

export interface Alert {
  id: string;
  organizationId: string;
  content: AlertContent;
  state: AlertState;
  nextEvaluationAt: number;
  createdAt: number;
  updatedAt: number;
}

export const NEW_STATE: AlertState = {
  status: 'ok',
  since: undefined,
  firingGroups: 0,
  lastValue: null,
  groupBy: [],
  evaluatedUntil: undefined,
};

export const toChannelIds = ({ channels }: AlertContent): string[] => channels.map(({ webhookId }) => webhookId);

/** Where the failure was announced, and its end was not. */
export const listFailureChannels = ({ content, state }: Pick<Alert, 'content' | 'state'>): readonly string[] =>
  state.failureSentTo ?? (state.isFailureSent ? toChannelIds(content) : []);

export const parseStart = (text: string): number | undefined => parseDateTime(text, { offset: 'optional' });

export const toSchedule = ({
  interval,
  scheduleOffsetMinutes,
  scheduleStartAt,
  evaluationDelaySeconds,
}: AlertContent): Schedule => ({
  interval,
  scheduleOffsetMinutes: scheduleOffsetMinutes ?? 0,
  scheduleStartAt:
    scheduleStartAt === null ? null : Math.floor((parseStart(scheduleStartAt) ?? 0) / SECOND_MS) * SECOND_MS,
  evaluationDelaySeconds: evaluationDelaySeconds ?? 0,
});

/** Also an interval that has begun counts: 7 minutes are two windows of 5 minutes. */
const countWindows = (minutes: number | null, stepMs: number): number =>
  Math.ceil(((minutes ?? 0) * MINUTE_MS) / stepMs);

export function toRule(
  content: AlertContent,
  { isCount, isComplete }: { isCount: boolean; isComplete: boolean },
  isRegrouped = false,
): Rule {
  const stepMs = INTERVALS[content.interval];
  const { threshold, thresholdMax, thresholdType, numConsecutiveWindows, pendingMinutes, keepFiringMinutes } = content;
  return {
    threshold,
    thresholdMax,
    thresholdType,
    stepMs,
    windowsToFire: Math.max(numConsecutiveWindows ?? 1, 1 + countWindows(pendingMinutes, stepMs)),
    windowsToResolve: 1 + countWindows(keepFiringMinutes, stepMs),
    noData: content.noDataBehavior ?? 'no_data',
    isCount,
    forgetsMissing: isComplete || isRegrouped,
  };
}

/** The members that decide which rows and groups an alert sees. */
const isSameSource = (a: AlertContent, b: AlertContent): boolean =>
  isDeepStrictEqual(
    [a.source, a.savedSearchId, a.dashboardId, a.tileId, a.groupBy, a.metric, a.condition],
    [b.source, b.savedSearchId, b.dashboardId, b.tileId, b.groupBy, b.metric, b.condition],
  );

/** When the next window can be evaluated. */
export function findNextEvaluationAt({ content, state }: Pick<Alert, 'content' | 'state'>, nowMs: number): number {
  const schedule = toSchedule(content);
  const known = findWindowStart(schedule, nowMs - schedule.evaluationDelaySeconds * SECOND_MS);
  return findNextEvaluation(schedule, state.evaluatedUntil ?? known);
}

/** Now, unless the windows of the alert start later. */
function findFirstEvaluationAt(content: AlertContent, nowMs: number): number {
  const isDue = listDueWindows(toSchedule(content), undefined, nowMs).count > 0;
  return isDue ? nowMs : findNextEvaluationAt({ content, state: NEW_STATE }, nowMs);
}

export function createAlert(
  identity: Pick<Alert, 'id' | 'organizationId'>,
  content: AlertContent,
  nowMs: number,
): Alert {
  const nextEvaluationAt = findFirstEvaluationAt(content, nowMs);
  return { ...identity, content, state: NEW_STATE, nextEvaluationAt, createdAt: nowMs, updatedAt: nowMs };
}

/** Used by the next evaluation. What is firing stays so until it is evaluated as normal. */
export function changeAlert(before: Alert, content: AlertContent, nowMs: number): Alert {
  const isRegrouped = before.state.isRegrouped || !isSameSource(before.content, content);
  const next = { content, state: { ...before.state, ...(isRegrouped && { isRegrouped }) } };
  const nextEvaluationAt = Math.min(findNextEvaluationAt(next, nowMs), before.nextEvaluationAt);
  return { ...before, ...next, nextEvaluationAt, updatedAt: nowMs };
}

/** Evaluations do not change it. */
export const createAlertEtag = ({ content }: Alert): string => createWeakEtag(content);

const PUBLIC_STATES = {
  ok: 'OK',
  pending: 'PENDING',
  firing: 'ALERT',
  no_data: 'INSUFFICIENT_DATA',
  failed: 'INSUFFICIENT_DATA',
} as const;

export function toAlertRecord(
  { id, organizationId, content, state, createdAt, updatedAt }: Alert,
  nowMs: number,
): AlertRecord {
  const { silence, acknowledged, failure } = state;
  return {
    id,
    teamId: organizationId,
    ...content,
    channel: content.channels[0] ?? null,
    state: PUBLIC_STATES[state.status],
    ...(silence &&
      silence.until > nowMs && {
        silenced: {
          by: silence.by,
          at: isoTime(silence.at),
          until: isoTime(silence.until),
          ...(silence.reason !== undefined && { reason: silence.reason }),
        },
      }),
    ...(acknowledged && { acknowledged: { by: acknowledged.by, at: isoTime(acknowledged.at) } }),
    executionErrors: failure ? [{ timestamp: isoTime(failure.at), type: failure.type, message: failure.message }] : [],
    status: state.status,
    ...(state.since !== undefined && { statusSince: isoTime(state.since) }),
    firingGroups: state.firingGroups,
    lastValue: state.lastValue,
    ...(state.evaluatedUntil !== undefined && { evaluatedUntil: isoTime(state.evaluatedUntil) }),
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  };
}
