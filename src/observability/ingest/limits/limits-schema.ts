import Type, { type Static } from 'typebox';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import {
  TELEMETRY_LIMITS,
  type TelemetryLimit,
  type TelemetrySignal,
} from '../../../management/organizations/organization.ts';
import { LimitObject, MAX_TELEMETRY_LIMIT } from '../../../management/organizations/schema.ts';
import { type EffectiveLimits, listLimits, type ServerLimits } from './telemetry-limits.ts';

const Limit = Type.Integer({ minimum: 1, maximum: MAX_TELEMETRY_LIMIT });
const OptionalLimit = Type.Optional(Type.Union([Limit, Type.Null()]));
const LimitsBody = (signal: TelemetrySignal) => Type.Optional(LimitObject(signal, OptionalLimit));

export const UpdateLimitsBody = NamedObject(
  'TelemetryLimitsPatchRequest',
  { logs: LimitsBody('logs'), traces: LimitsBody('traces'), metrics: LimitsBody('metrics') },
  { additionalProperties: false },
);

const DESCRIPTIONS: Record<TelemetryLimit, string> = {
  rowsPerMinute: 'Records that are accepted per minute',
  bytesPerMinute: 'Bytes of requests that are accepted per minute, as they were sent',
  attributeKeysPerDay: 'Different attribute keys per day (UTC)',
  streamsPerDay: 'Different metric streams per day (UTC): a metric of one resource with one set of attributes',
};
const LimitValue = Type.Union([Type.Integer(), Type.Null()]);
const describe = (limit: TelemetryLimit) =>
  Type.Union([Type.Integer(), Type.Null()], { description: `${DESCRIPTIONS[limit]}; null for no limit` });
const SignalLimits = {
  rowsPerMinute: describe('rowsPerMinute'),
  bytesPerMinute: describe('bytesPerMinute'),
  attributeKeysPerDay: describe('attributeKeysPerDay'),
};
const MetricLimits = { ...SignalLimits, streamsPerDay: describe('streamsPerDay') };

export const LimitsRecord = NamedObject('TelemetryLimits', {
  logs: Type.Object(SignalLimits),
  traces: Type.Object(SignalLimits),
  metrics: Type.Object(MetricLimits),
  maximum: Type.Object(
    Object.fromEntries(Object.keys(TELEMETRY_LIMITS).map((limit) => [limit, LimitValue])) as Record<
      TelemetryLimit,
      typeof LimitValue
    >,
    { description: 'The limits of the server for each organization, which apply where the organization has none' },
  ),
});

const withNull = (limits: ServerLimits, names: readonly TelemetryLimit[]): Record<TelemetryLimit, number | null> =>
  Object.fromEntries(names.map((name) => [name, limits[name] ?? null])) as Record<TelemetryLimit, number | null>;

export const toLimitsRecord = (
  limits: Record<TelemetrySignal, EffectiveLimits>,
  maximum: ServerLimits,
): Static<typeof LimitsRecord> => ({
  logs: withNull(limits.logs, listLimits('logs')),
  traces: withNull(limits.traces, listLimits('traces')),
  metrics: withNull(limits.metrics, listLimits('metrics')),
  maximum: withNull(maximum, Object.keys(TELEMETRY_LIMITS) as TelemetryLimit[]),
});
