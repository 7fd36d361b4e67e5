import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toRule, toSchedule } from '../../src/observability/alerts/alert.ts';
import { normalizeAlert } from '../../src/observability/alerts/alert-input.ts';
import { type AlertBody, NO_DATA_BEHAVIORS, THRESHOLD_TYPES } from '../../src/observability/alerts/alert-schema.ts';
import { parseGroups, serializeGroups } from '../../src/observability/alerts/alert-store.ts';
import { announce, evaluateWindow } from '../../src/observability/alerts/evaluation.ts';
import type { Groups } from '../../src/observability/alerts/judgment.ts';
import { INTERVALS, type Interval, listDueWindows } from '../../src/observability/alerts/windows.ts';
import { isLongRun } from '../support/long-run.ts';
import { createIndependentEvaluator, type Row, type WindowResult } from './independent-evaluator.ts';

const MINUTE = 60_000;
const T0 = Date.parse('2026-11-18T10:00:00Z');

const rules = fc.record({
  interval: fc.constantFrom(...(Object.keys(INTERVALS) as Interval[])),
  thresholdType: fc.constantFrom(...THRESHOLD_TYPES),
  threshold: fc.integer({ min: 0, max: 4 }),
  width: fc.integer({ min: 0, max: 2 }),
  pending: fc.constantFrom(0, 0, 0.5, 1, 2.5),
  numConsecutiveWindows: fc.constantFrom(null, 1, 2, 4),
  keepFiring: fc.constantFrom(0, 0, 0.5, 1, 3),
  repeat: fc.constantFrom(0, 2, 5),
  noDataBehavior: fc.constantFrom(...NO_DATA_BEHAVIORS),
  evaluationDelaySeconds: fc.constantFrom(0, 15, 90),
  schedule: fc.oneof(
    fc.constant({}),
    fc.record({ scheduleOffsetMinutes: fc.constantFrom(0, 1, 4) }),
    fc.integer({ min: -3000, max: 3000 }).map((seconds) => ({
      scheduleStartAt: new Date(T0 + seconds * 1000).toISOString(),
    })),
  ),
  isGrouped: fc.boolean(),
  aggregation: fc.constantFrom('count' as const, 'max' as const),
});

/** In windows. */
const windows = (min: number, max: number) =>
  fc.integer({ min: min * 1000, max: max * 1000 }).map((thousandths) => thousandths / 1000);

const givenRows = fc.array(
  fc.record({
    at: windows(-2, 45),
    lateSeconds: fc.constantFrom(0, 0, 0, 5, 30, 100, 400),
    group: fc.constantFrom('a', 'b', 'c', 'd'),
    value: fc.integer({ min: 0, max: 6 }),
    copies: fc.integer({ min: 1, max: 4 }),
  }),
  { maxLength: 80, size: 'max' },
);
/** Most passes follow each other soon; the server pauses, and the clock is set back. */
const givenPasses = fc.array(
  fc.oneof(
    { weight: 20, arbitrary: windows(0.05, 1.2) },
    { weight: 2, arbitrary: windows(2, 12) },
    { weight: 1, arbitrary: windows(40, 80) },
    { weight: 1, arbitrary: windows(-6, -0.01) },
  ),
  { minLength: 10, maxLength: 60, size: 'max' },
);
/** The channels that the alert has from some pass on. */
const givenChannels = fc.array(
  fc.record({
    pass: fc.integer({ min: 0, max: 60 }),
    channels: fc.constantFrom(['x'], ['y'], ['x', 'y'], ['y', 'z'], ['z']),
  }),
  { maxLength: 5 },
);

type GivenRule = typeof rules extends fc.Arbitrary<infer T> ? T : never;

/** What the code of the server does with a store and an engine around it. */
function createOurs(body: AlertBody, { isGrouped, aggregation }: GivenRule, rows: readonly Row[]) {
  const content = normalizeAlert(body);
  let groups: Groups = new Map();
  let evaluatedUntil: number | undefined;

  const readValues = (startMs: number, endMs: number, now: number) => {
    const found = new Map<string, number[]>();
    for (const { time, arrivedAt, group, value } of rows)
      if (time >= startMs && time < endMs && arrivedAt <= now)
        found.set(isGrouped ? group : '', [...(found.get(isGrouped ? group : '') ?? []), value]);
    return [...found].map(([name, list]) => ({
      labels: isGrouped ? [name] : [],
      value: aggregation === 'count' ? list.length : Math.max(...list),
    }));
  };

  return (now: number, channels: readonly string[]): { windows: WindowResult[]; messages: string[] } => {
    const due = listDueWindows(toSchedule(content), evaluatedUntil, now);
    const rule = toRule(content, { isCount: aggregation === 'count', isComplete: false });
    const results = Array.from({ length: due.count }, (_, index) => {
      const end = due.startMs + (index + 1) * due.stepMs;
      const values = readValues(end - due.stepMs, end, now);
      const measured = { evaluatedAt: now, windowEnd: end, queryMs: 0 };
      const judged = evaluateWindow(rule, groups, 'ok', values, measured);
      groups = judged.groups;
      evaluatedUntil = end;
      const states = [...groups.values()].flatMap(({ labels, status }) =>
        status === 'ok' ? [] : [[labels[0] ?? '', status] as const],
      );
      return {
        end,
        state: judged.evaluation.status as WindowResult['state'],
        groups: Object.fromEntries(states.sort()),
      };
    });
    const announcing = {
      repeatMs: (content.repeatMinutes ?? 0) * MINUTE,
      isMuted: false,
      acknowledgedAt: undefined,
      channels,
    };
    const { groups: after, sent } = announce(groups, announcing, now);
    groups = after;
    const messages = sent.flatMap(({ kind, channels: receivers, group }) =>
      receivers.map((channel) => `${channel}: ${group.labels[0] ?? ''} ${kind}`),
    );
    // As it is read from the store.
    groups = parseGroups(serializeGroups(groups));
    return { windows: results, messages: messages.sort() };
  };
}

it('2,000 random series and rules have the states and messages of an independent evaluator', () => {
  let messages = 0;
  const property = fc.property(rules, givenRows, givenPasses, givenChannels, (rule, given, passes, changes) => {
    const step = INTERVALS[rule.interval];
    const minutes = (windows: number) => Math.ceil((windows * step) / MINUTE);
    const { scheduleOffsetMinutes: offset = 0, scheduleStartAt } = rule.schedule as Partial<AlertBody>;
    const scheduleOffsetMinutes = Math.min(offset ?? 0, step / MINUTE - 1);
    const thresholdMax = rule.threshold + rule.width;
    const body = {
      interval: rule.interval,
      threshold: rule.threshold,
      thresholdType: rule.thresholdType,
      thresholdMax,
      numConsecutiveWindows: rule.numConsecutiveWindows,
      pendingMinutes: minutes(rule.pending),
      keepFiringMinutes: minutes(rule.keepFiring),
      repeatMinutes: minutes(rule.repeat),
      noDataBehavior: rule.noDataBehavior,
      evaluationDelaySeconds: rule.evaluationDelaySeconds,
      scheduleOffsetMinutes,
      ...(scheduleStartAt != null && { scheduleStartAt }),
    };
    const rows: Row[] = given.flatMap(({ at, lateSeconds, group, value, copies }) => {
      const time = Math.floor(T0 + at * step);
      return Array.from({ length: copies }, () => ({ time, arrivedAt: time + lateSeconds * 1000, group, value }));
    });
    const independent = createIndependentEvaluator(
      {
        intervalMs: step,
        offsetMs: scheduleStartAt == null ? scheduleOffsetMinutes * MINUTE : 0,
        startAt: scheduleStartAt == null ? null : Date.parse(scheduleStartAt),
        delayMs: rule.evaluationDelaySeconds * 1000,
        thresholdType: rule.thresholdType,
        threshold: rule.threshold,
        thresholdMax,
        pendingMs: body.pendingMinutes * MINUTE,
        consecutive: rule.numConsecutiveWindows ?? 1,
        keepFiringMs: body.keepFiringMinutes * MINUTE,
        repeatMs: body.repeatMinutes * MINUTE,
        noData: rule.noDataBehavior,
        isGrouped: rule.isGrouped,
        aggregation: rule.aggregation,
      },
      rows,
    );
    const ours = createOurs(body, rule, rows);
    let now = T0;
    let channels: readonly string[] = ['x'];
    for (const [index, length] of passes.entries()) {
      now = Math.floor(now + length * step);
      channels = changes.find(({ pass }) => pass === index)?.channels ?? channels;
      const expected = independent.pass(now, channels);
      messages += expected.messages.length;
      expect(ours(now, channels), `pass ${index} at ${new Date(now).toISOString()}`).toEqual(expected);
    }
  });
  fc.assert(property, { numRuns: isLongRun ? 20_000 : 2000 });
  // Otherwise the series and rules would prove little.
  expect(messages).toBeGreaterThan(5000);
});
