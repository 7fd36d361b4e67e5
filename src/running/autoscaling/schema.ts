import Type, { type Static } from 'typebox';
import { chcFromMicros } from '../../kernel/numbers/money.ts';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { isoSeconds, isoTime } from '../../kernel/time/clock.ts';
import { AUTOSCALING_MODES } from '../../management/services/service-settings.ts';
import { AutoscalerMode } from '../../management/services/settings/settings-schema.ts';
import type { AutoscalingHistory, AutoscalingStatus } from './autoscaling.ts';
import { ACTIONS, type Decision } from './decision.ts';
import type { HistoryPoint } from './history-points.ts';
import type { StoredDecision } from './recorded-decision.ts';

const figure = (description: string) => Type.Optional(Type.Number({ description }));

const Size = NamedObject('ServiceSize', {
  memoryGb: Type.Number({ description: 'Of one replica' }),
  replicas: Type.Integer({ description: 'Of each shard' }),
});

const Inputs = NamedObject(
  'AutoscalingInputs',
  {
    mode: Type.Enum([...AUTOSCALING_MODES]),
    minMemoryGb: Type.Number(),
    maxMemoryGb: Type.Number(),
    minReplicas: Type.Integer(),
    maxReplicas: Type.Integer(),
    windowMinutes: Type.Integer({ description: 'The minutes that the peaks are from' }),
    coveredMinutes: Type.Integer({ description: 'Minutes in which the service ran and its load was measured' }),
    peakCpuCores: figure('Over all replicas of a shard'),
    peakMemoryGb: figure('Over all replicas of a shard'),
    peakQueries: figure('Concurrent queries, over all replicas'),
    longPeakCpuCores: figure('In the last 30 hours, in vertical mode'),
    longPeakMemoryGb: figure('In the last 30 hours, in vertical mode'),
    cpuPercent: figure('The peak as a share of the current size'),
    memoryPercent: figure('The peak as a share of the current size'),
    queriesPercent: figure('The peak as a share of 1,000 queries per replica'),
    targetMemoryGb: figure('The size that the peaks call for, which is approached one step at a time'),
    targetReplicas: figure('The number that the peaks call for, which is approached one step at a time'),
    outOfMemoryAt: Type.Optional(Type.String({ format: 'date-time' })),
    lastChangeAt: Type.Optional(Type.String({ format: 'date-time' })),
  },
  { description: 'The figures that the decision was based on' },
);

const DECISION = {
  at: Type.String({ format: 'date-time' }),
  action: Type.Enum([...ACTIONS], {
    description: 'up and down change the memory of the replicas, out and in their number',
  }),
  from: Size,
  to: Size,
  reason: Type.String({ description: 'One sentence' }),
  inputs: Inputs,
};

const Recommendation = NamedObject('AutoscalingRecommendation', DECISION, {
  description: 'The decision for the load so far, also if it is not to change anything; absent with mode off',
});

export const DecisionRecord = NamedObject('AutoscalingDecision', {
  id: Type.String({ format: 'uuid' }),
  isApplied: Type.Boolean({ description: 'false for a recommendation' }),
  ...DECISION,
});

export const AutoscalingRecord = NamedObject('Autoscaling', {
  mode: AutoscalerMode,
  recommendation: Type.Optional(Recommendation),
});

const PointRecord = NamedObject('AutoscalingPoint', {
  at: Type.String({ format: 'date-time' }),
  state: Type.String(),
  memoryGb: Type.Number({ description: 'The size of one replica' }),
  replicas: Type.Integer({ description: 'Of each shard' }),
  shards: Type.Optional(Type.Integer({ description: 'Absent for one' })),
  cpuCores: figure('Peak, over all replicas'),
  usedMemoryGb: figure('Peak, over all replicas'),
  queries: figure('Peak, over all replicas'),
  outOfMemory: Type.Integer({ description: 'Queries that failed for lack of memory' }),
  costPerHourCHC: Type.Number({ description: 'For compute at this size; 0 unless the service runs' }),
});

export const HistoryRecord = NamedObject('AutoscalingHistory', {
  from: Type.String({ format: 'date-time' }),
  to: Type.String({ format: 'date-time' }),
  stepMinutes: Type.Integer({ description: 'The minutes of a point' }),
  points: Type.Array(PointRecord, { description: 'Oldest first; times without data have no points' }),
  decisions: Type.Array(DecisionRecord, { description: 'Oldest first; the newest 1,000' }),
});

const Time = (description: string) => Type.Optional(Type.String({ format: 'date-time', maxLength: 40, description }));

export const HistoryQuery = Type.Object(
  {
    from: Time('ISO 8601 date-time with an offset or Z; a day before to by default, at most 31 days before to'),
    to: Time('Exclusive; now by default'),
  },
  { additionalProperties: false },
);

export const toAutoscalingRecord = ({ mode, recommendation }: AutoscalingStatus): Static<typeof AutoscalingRecord> => ({
  mode,
  ...(recommendation && { recommendation: toDecision(recommendation) }),
});

export const toDecisionRecord = (decision: StoredDecision): Static<typeof DecisionRecord> => ({
  id: decision.id,
  isApplied: decision.isApplied,
  ...toDecision(decision),
});

export const toHistoryRecord = (history: AutoscalingHistory): Static<typeof HistoryRecord> => ({
  from: isoTime(history.from),
  to: isoTime(history.to),
  stepMinutes: history.stepMinutes,
  points: history.points.map(toPoint),
  decisions: history.decisions.map(toDecisionRecord),
});

function toPoint({ at, costMicrosPerHour, ...point }: HistoryPoint): Static<typeof PointRecord> {
  return { at: isoSeconds(at), ...point, costPerHourCHC: chcFromMicros(costMicrosPerHour) };
}

function toDecision({ at, action, from, to, reason, inputs }: Decision): Static<typeof Recommendation> {
  const { outOfMemoryAt, lastChangeAt, ...figures } = inputs;
  return {
    at: isoTime(at),
    action,
    from,
    to,
    reason,
    inputs: {
      ...figures,
      ...(outOfMemoryAt !== undefined && { outOfMemoryAt: isoTime(outOfMemoryAt) }),
      ...(lastChangeAt !== undefined && { lastChangeAt: isoTime(lastChangeAt) }),
    },
  };
}
