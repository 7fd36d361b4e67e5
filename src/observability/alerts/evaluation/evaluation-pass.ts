import type { Logger } from 'pino';
import { createBackgroundLoop } from '../../../kernel/tasks/background-loop.ts';
import { yieldToEventLoop } from '../../../kernel/tasks/event-loop.ts';
import { forEachParallel } from '../../../kernel/tasks/parallel.ts';
import { MINUTE_MS, SECOND_MS } from '../../../kernel/time/clock.ts';
import type { Notifications } from '../../../management/notifications/notifications.ts';
import type { Organizations } from '../../../management/organizations/organizations.ts';
import type { LeasedWork } from '../../../platform/leases/leased-work.ts';
import type { LeaseSession } from '../../../platform/leases/session.ts';
import {
  type Alert,
  type AlertState,
  type Failure,
  findNextEvaluationAt,
  listFailureChannels,
  toChannelIds,
  toRule,
  toSchedule,
} from '../alert.ts';
import {
  findAlert,
  listDueAlerts,
  putAlert,
  putGroups,
  readGroups,
  rescheduleAlerts,
  serializeGroups,
} from '../alert-store.ts';
import { isQuiet, isResolutionUnsent, union, without } from '../announcement.ts';
import { announce, countFiring, type Evaluation, evaluateWindow, type SentAnnouncement } from '../evaluation.ts';
import type { Groups } from '../judgment.ts';
import type { AlertNotices, FailureNotice } from '../notices.ts';
import { listDueWindows, type Windows } from '../windows.ts';
import { type AlertValueReader, MAX_GROUPS, tooManyGroups } from './alert-values.ts';
import { insertEvaluations } from './evaluation-store.ts';
import { toFailure } from './failure.ts';

export interface EvaluationOptions {
  log: Pick<Logger, 'warn'>;
  organizations: Organizations;
  values: AlertValueReader;
  notices: AlertNotices;
  notifications: Pick<Notifications, 'enqueue' | 'requestDelivery'>;
}

const EVERY_MS = 5 * SECOND_MS;
const MAX_CONCURRENT = 8;
const BATCH = 200;
/** Also between two looks at an alert that is not ok. */
const RETRY_MS = MINUTE_MS;
/** One failure can be a restart of the engine. */
const ATTEMPTS_BEFORE_NOTICE = 2;
/** More wait for the next turn of the event loop. */
const GROUPS_PER_TURN = 500;

/** What an evaluation found. */
interface Outcome {
  state: AlertState;
  groups: Groups | undefined;
  evaluations: Evaluation[];
  sent: SentAnnouncement[];
  /** The evaluation fails since some time, or works again. */
  failureNotice?: FailureNotice | undefined;
}

/**
 * Evaluates alerts when their windows are complete, by the clock of the store: no window that ends after it. The result of
 * an evaluation, the state after it and its notifications are stored in one transaction, if no other change came first:
 * each change of a state is announced once, whichever node finds it and whenever it stops.
 */
export function startEvaluation(
  { state, confirm, isHeld }: LeaseSession,
  { log, organizations, values, notices, notifications }: EvaluationOptions,
): LeasedWork & { trigger(): Promise<void> } {
  const { clock } = state;
  let lastPassMs = Number.POSITIVE_INFINITY;

  async function evaluate(alert: Alert): Promise<void> {
    const nowMs = clock.now();
    const windows = listDueWindows(toSchedule(alert.content), alert.state.evaluatedUntil, nowMs);
    const before = await readGroups(state.db, alert.organizationId, alert.id);
    if (before.size > GROUPS_PER_TURN) await yieldToEventLoop();
    const outcome =
      windows.count === 0 ? judgeNothing(alert, before, nowMs) : await judge(alert, before, windows, nowMs);
    await store(alert, windows, outcome, isResolutionUnsent(outcome.groups ?? before), nowMs);
  }

  /** Repeats and the end of quiet hours do not wait for a window. */
  function judgeNothing(alert: Alert, before: Groups, nowMs: number): Outcome {
    const { groups, sent, isChange } = announce(before, toAnnouncing(alert, nowMs), nowMs);
    const ended = alert.state.failure === undefined ? endFailure(alert, nowMs) : { state: alert.state };
    return { ...ended, groups: isChange ? groups : undefined, evaluations: [], sent };
  }

  /** That the alert works again is sent wherever it was sent that it does not, after a silence. */
  function endFailure(alert: Alert, nowMs: number): Pick<Outcome, 'state' | 'failureNotice'> {
    const channels = listFailureChannels(alert);
    const { failure: _, isFailureSent: __, failureSentTo: ___, ...state } = alert.state;
    if (channels.length === 0) return { state };
    if (isMuted(alert, nowMs)) return { state: { ...state, failureSentTo: channels } };
    return { state, failureNotice: { kind: 'resolved', channels } };
  }

  /** Reads the values of windows, and judges them one after the other. */
  async function judgeWindows(alert: Alert, before: Groups, windows: Windows, evaluatedAt: number) {
    const client = { organizationId: alert.organizationId, credentialId: `alert ${alert.id}` };
    const evaluations: Evaluation[] = [];
    let [groups, status]: [Groups, AlertState['status']] = [before, alert.state.status];
    let [windowEnd, groupBy]: [number, readonly string[]] = [windows.startMs, []];
    let startedMs = clock.monotonicMs();
    for await (const found of values.read(client, alert.content, windows)) {
      const queryMs = clock.monotonicMs() - startedMs;
      groupBy = found.groupBy;
      for (const list of found.windows) {
        if (list.length + groups.size > GROUPS_PER_TURN) await yieldToEventLoop();
        windowEnd += windows.stepMs;
        const isFirst = evaluations.length === 0;
        const rule = toRule(alert.content, found, isFirst && alert.state.isRegrouped);
        const measured = { evaluatedAt, windowEnd, queryMs, skipped: isFirst ? windows.skipped : 0 };
        const judged = evaluateWindow(rule, groups, status, list, measured);
        evaluations.push(judged.evaluation);
        [groups, status] = [judged.groups, judged.evaluation.status];
        if (groups.size > MAX_GROUPS) throw tooManyGroups();
      }
      startedMs = clock.monotonicMs();
    }
    if (groups.size > GROUPS_PER_TURN) await yieldToEventLoop();
    return { groups, evaluations, groupBy };
  }

  async function judge(alert: Alert, before: Groups, windows: Windows, nowMs: number): Promise<Outcome> {
    const startedMs = clock.monotonicMs();
    let judged: Awaited<ReturnType<typeof judgeWindows>>;
    try {
      judged = await judgeWindows(alert, before, windows, nowMs);
    } catch (error) {
      const measured = { evaluatedAt: nowMs, queryMs: clock.monotonicMs() - startedMs };
      return judgeFailure(alert, before, windows, toFailure(alert.state.failure, error, nowMs), measured);
    }
    const { groups, sent } = announce(judged.groups, toAnnouncing(alert, nowMs), nowMs);
    const last = judged.evaluations.at(-1) as Evaluation;
    const isFiring = last.status === 'firing' || last.status === 'no_data';
    const { state, failureNotice } = endFailure(alert, nowMs);
    const { acknowledged, isRegrouped: _, ...kept } = state;
    return {
      state: {
        ...kept,
        ...toStatus(alert.state, last.status, nowMs),
        ...(isFiring && acknowledged && { acknowledged }),
        firingGroups: last.firing,
        lastValue: last.value,
        groupBy: judged.groupBy,
        evaluatedUntil: last.windowEnd,
      },
      groups,
      evaluations: judged.evaluations,
      sent,
      failureNotice,
    };
  }

  /** The windows stay due. */
  function judgeFailure(
    alert: Alert,
    groups: Groups,
    windows: Windows,
    failure: Failure,
    { evaluatedAt, queryMs }: { evaluatedAt: number; queryMs: number },
  ): Outcome {
    const { errorBehavior } = alert.content;
    const status = ({ error: 'failed', alert: 'firing', ok: 'ok', keep: alert.state.status } as const)[
      errorBehavior ?? 'error'
    ];
    const isNotified = errorBehavior === 'error' || errorBehavior === 'alert';
    const isDue = isNotified && failure.attempts >= ATTEMPTS_BEFORE_NOTICE && !isMuted(alert, evaluatedAt);
    const told = listFailureChannels(alert);
    const untold = isDue ? without(toChannelIds(alert.content), told) : [];
    const failureSentTo = union(told, untold);
    const evaluation: Evaluation = {
      evaluatedAt,
      windowEnd: windows.startMs + windows.count * windows.stepMs,
      status,
      isChange: status !== alert.state.status,
      value: null,
      groups: 0,
      firing: countFiring(groups),
      shown: [],
      queryMs,
      error: { type: failure.type, message: failure.message },
    };
    return {
      state: {
        ...alert.state,
        ...toStatus(alert.state, status, evaluatedAt),
        failure,
        ...(failureSentTo.length > 0 && { failureSentTo }),
      },
      groups: undefined,
      evaluations: [evaluation],
      sent: [],
      failureNotice: untold.length > 0 ? { kind: 'failed', channels: untold } : undefined,
    };
  }

  /** Does nothing if the alert was changed, deleted or evaluated in the meantime. */
  async function store(
    alert: Alert,
    windows: Windows,
    outcome: Outcome,
    isUnsent: boolean,
    nowMs: number,
  ): Promise<void> {
    const { organizationId, id } = alert;
    const inputs = await notices.build(alert, windows, outcome, nowMs);
    const hasManyGroups = outcome.groups !== undefined && outcome.groups.size > GROUPS_PER_TURN;
    if (hasManyGroups) await yieldToEventLoop();
    const groups = outcome.groups && serializeGroups(outcome.groups);
    if (hasManyGroups) await yieldToEventLoop();
    const next: Alert = { ...alert, state: outcome.state };
    next.nextEvaluationAt = chooseNextEvaluation(next, isUnsent, nowMs);
    const isStored = await state.write(async (tx) => {
      await organizations.lock(tx, organizationId);
      const current = await findAlert(tx, organizationId, id);
      if (!current || JSON.stringify(current) !== JSON.stringify(alert)) return false;
      await putAlert(tx, next);
      if (groups !== undefined) await putGroups(tx, organizationId, id, groups);
      await insertEvaluations(tx, organizationId, id, outcome.evaluations);
      await notifications.enqueue(tx, inputs);
      return true;
    });
    if (isStored && inputs.length > 0) notifications.requestDelivery();
  }

  async function evaluateSafely(alert: Alert): Promise<void> {
    try {
      await evaluate(alert);
    } catch (error) {
      log.warn({ organizationId: alert.organizationId, alertId: alert.id, err: error }, 'failed to evaluate an alert');
    }
  }

  /** All alerts that are due, of all organizations, each once: one that fails to be stored stays due. */
  async function run(): Promise<void> {
    if (!(await confirm())) return;
    const nowMs = clock.now();
    // Also with the first pass: the clock may have been set back before, or that of another node was wrong.
    if (nowMs < lastPassMs) await state.write((tx) => rescheduleAlerts(tx, nowMs));
    lastPassMs = nowMs;
    let last: Alert | undefined;
    do {
      const due = await listDueAlerts(state.db, nowMs, BATCH, last);
      await forEachParallel(due, MAX_CONCURRENT, async (alert) => {
        if (isHeld()) await evaluateSafely(alert);
      });
      last = due.length === BATCH ? due.at(-1) : undefined;
    } while (last && isHeld());
  }

  const loop = createBackgroundLoop({
    run,
    everyMs: EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'failed to evaluate alerts'),
  });

  loop.start();
  return {
    /** Evaluates what is due now. */
    trigger: loop.trigger,
    close: loop.close,
  };
}

/** What does not wait for the next window: another attempt, a repeated notification, the end of a silence. */
function chooseNextEvaluation(alert: Alert, isUnsent: boolean, nowMs: number): number {
  const { failure, status } = alert.state;
  if (failure) return nowMs + RETRY_MS;
  const nextWindow = Math.max(findNextEvaluationAt(alert, nowMs), nowMs + 1);
  const isOpen = status !== 'ok' || isUnsent || listFailureChannels(alert).length > 0;
  return isOpen ? Math.min(nextWindow, nowMs + RETRY_MS) : nextWindow;
}

const isMuted = ({ content, state }: Alert, nowMs: number): boolean =>
  (state.silence !== undefined && state.silence.until > nowMs) ||
  (content.quietHours !== null && isQuiet(content.quietHours, nowMs));

const toAnnouncing = (alert: Alert, nowMs: number) => ({
  repeatMs: (alert.content.repeatMinutes ?? 0) * MINUTE_MS,
  isMuted: isMuted(alert, nowMs),
  acknowledgedAt: alert.state.acknowledged?.at,
  channels: toChannelIds(alert.content),
});

const toStatus = (before: AlertState, status: AlertState['status'], nowMs: number) => ({
  status,
  since: status === before.status ? before.since : nowMs,
});
