import { AppError } from '../../../kernel/errors.ts';
import { yieldToEventLoop } from '../../../kernel/tasks/event-loop.ts';
import { type Clock, DAY_MS, isoTime, MINUTE_MS, SECOND_MS } from '../../../kernel/time/clock.ts';
import type { QueryClient } from '../../charts/shared-queries.ts';
import { type AlertContent, toRule, toSchedule } from '../alert.ts';
import { isQuiet } from '../announcement.ts';
import { announce, evaluateWindow } from '../evaluation.ts';
import type { Groups } from '../judgment.ts';
import { countMessages } from '../notices.ts';
import { findWindowStart, INTERVALS, type Windows } from '../windows.ts';
import { type AlertValueReader, MAX_GROUPS, tooManyGroups } from './alert-values.ts';

interface Replay {
  start: string;
  end: string;
  windows: number;
  /** Times at which a group fired, oldest first; `end` is missing if it still does. */
  incidents: { group: readonly string[]; start: string; end?: string; seconds: number; peak: number | null }[];
  /** Incidents that are not listed. */
  moreIncidents: number;
  /** Over all groups. */
  firingSeconds: number;
  /** To each channel. */
  messages: number;
  /** The worst value of parts of the range, for a chart. */
  points: { time: string; value: number | null; status: string }[];
}

const MAX_DAYS = 30;
const MAX_INCIDENTS = 500;
const MAX_POINTS = 500;
/** Windows of one statement with groups: with more than 400 groups, a shorter range is needed. */
const GROUPED_WINDOWS = 500;
const GROUPS_PER_TURN = 500;

interface Options {
  clock: Clock;
  values: AlertValueReader;
}

/** Evaluates a draft over the past, with the rules that evaluate it later. */
export function createPreview({ clock, values }: Options) {
  return async (client: QueryClient, content: AlertContent, days: number): Promise<Replay> => {
    if (content.source === 'condition')
      throw new AppError('bad_request', 'A condition cannot be replayed, because its past values are not stored', {
        field: 'source',
      });
    const windows = chooseWindows(content, Math.min(days, MAX_DAYS), clock.now());
    const replay = createReplay();
    const points: Replay['points'] = [];
    const perPoint = Math.ceil(windows.count / MAX_POINTS);
    let groups: Groups = new Map();
    let [index, messages, judgedGroups] = [0, 0, 0];
    for await (const found of values.read(client, content, windows, GROUPED_WINDOWS)) {
      const rule = toRule(content, found);
      for (const list of found.windows) {
        const startMs = windows.startMs + index * windows.stepMs;
        const endMs = startMs + windows.stepMs;
        const nowMs = endMs + (content.evaluationDelaySeconds ?? 0) * SECOND_MS;
        const measured = { evaluatedAt: nowMs, windowEnd: endMs, queryMs: 0 };
        const judged = evaluateWindow(rule, groups, 'ok', list, measured);
        if (judged.groups.size > MAX_GROUPS) throw tooManyGroups();
        replay.add(groups, judged.groups, endMs);
        const announced = announce(judged.groups, toAnnouncing(content, nowMs), nowMs);
        messages += countMessages(announced.sent);
        groups = announced.groups;
        addPoint(points, index % perPoint === 0, startMs, judged.evaluation);
        index++;
        judgedGroups += 1 + list.length + groups.size;
        if (judgedGroups > GROUPS_PER_TURN) {
          judgedGroups = 0;
          await yieldToEventLoop();
        }
      }
    }
    const endMs = windows.startMs + windows.count * windows.stepMs;
    return {
      start: isoTime(windows.startMs),
      end: isoTime(endMs),
      windows: windows.count,
      ...replay.finish(endMs),
      messages,
      points,
    };
  };
}

const toAnnouncing = ({ repeatMinutes, quietHours }: AlertContent, nowMs: number) => ({
  repeatMs: (repeatMinutes ?? 0) * MINUTE_MS,
  isMuted: quietHours !== null && isQuiet(quietHours, nowMs),
  acknowledgedAt: undefined,
  // Stands for each of them.
  channels: ['every'],
});

function chooseWindows(content: AlertContent, days: number, nowMs: number): Windows {
  const schedule = toSchedule(content);
  const stepMs = INTERVALS[content.interval];
  const endMs = findWindowStart(schedule, nowMs - schedule.evaluationDelaySeconds * SECOND_MS);
  const count = Math.max(1, Math.floor((days * DAY_MS) / stepMs));
  return { startMs: endMs - count * stepMs, stepMs, count, skipped: 0 };
}

/** A point shows the worst of its windows. */
function addPoint(
  points: Replay['points'],
  isNew: boolean,
  startMs: number,
  { value, status }: { value: number | null; status: string },
): void {
  const last = points.at(-1);
  if (isNew || !last) points.push({ time: isoTime(startMs), value, status });
  else if (status === 'firing' && last.status !== 'firing') Object.assign(last, { value, status });
}

/** Follows when groups fire. */
function createReplay() {
  const open = new Map<string, { group: readonly string[]; startMs: number; peak: number | null }>();
  const incidents: Replay['incidents'] = [];
  let [more, firingMs] = [0, 0];

  function close(key: string, endMs: number, isOver: boolean): void {
    const incident = open.get(key);
    if (!incident) return;
    open.delete(key);
    firingMs += endMs - incident.startMs;
    const { group, startMs, peak } = incident;
    const seconds = (endMs - startMs) / SECOND_MS;
    if (incidents.length < MAX_INCIDENTS)
      incidents.push({ group, start: isoTime(startMs), ...(isOver && { end: isoTime(endMs) }), seconds, peak });
    else more++;
  }

  return {
    add(before: Groups, after: Groups, endMs: number): void {
      for (const [key, { labels, status, value }] of after) {
        if (status !== 'firing') continue;
        const incident = open.get(key) ?? { group: labels, startMs: endMs, peak: null };
        const peak = value === null ? incident.peak : Math.max(incident.peak ?? value, value);
        open.set(key, { ...incident, peak });
      }
      for (const key of before.keys()) if (after.get(key)?.status !== 'firing') close(key, endMs, true);
    },
    finish(endMs: number) {
      for (const key of [...open.keys()]) close(key, endMs, false);
      incidents.sort((a, b) => (a.start < b.start ? -1 : 1));
      return { incidents, moreIncidents: more, firingSeconds: firingMs / SECOND_MS };
    },
  };
}
