import Type, { type Static } from 'typebox';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { isoTime } from '../../../kernel/time/clock.ts';
import { LimitsRecord, toLimitsRecord } from '../limits/limits-schema.ts';
import { SIGNALS } from '../wire/otlp-messages.ts';
import { ReportQuery } from './schema.ts';
import type { TelemetryUsage } from './telemetry-usage.ts';
import { MAX_DROPS, MAX_REASONS, MAX_SERVICES } from './usage-queries.ts';

export const UsageQuery = Type.Object(
  {
    from: Type.Optional(
      Type.String({
        format: 'date-time',
        maxLength: 40,
        description: 'ISO 8601 date-time with an offset or Z; a day before to by default, at most 90 days before to',
      }),
    ),
    to: ReportQuery.properties.to,
  },
  { additionalProperties: false },
);

const Time = Type.String({ format: 'date-time' });
const Counted = {
  signal: Type.Enum([...SIGNALS]),
  records: Type.Integer(),
  bytes: Type.Integer({
    description: 'Of rows, before compression; of rejected records and removed attributes, as they were sent',
  }),
};

export const UsageRecord = NamedObject('TelemetryUsage', {
  from: Time,
  to: Time,
  limits: Type.Omit(LimitsRecord, ['maximum']),
  signals: Type.Array(
    NamedObject('TelemetrySignalUsage', {
      signal: Counted.signal,
      peakRowsPerMinute: Type.Integer({ description: 'The most records that were accepted in a minute of the range' }),
      peakAt: Type.Union([Time, Type.Null()], { description: 'That minute; null if nothing was accepted' }),
      attributeKeysToday: Type.Integer({ description: 'Different attribute keys of today (UTC)' }),
      removedAttributes: Type.Integer({
        description: 'Attributes that were removed in the range because of the limit of attribute keys',
      }),
      streamsToday: Type.Optional(
        Type.Integer({ description: 'Different metric streams of today (UTC); of metrics only' }),
      ),
    }),
  ),
  services: Type.Array(
    NamedObject('TelemetryServiceUsage', {
      serviceName: Type.String({ description: 'At most 200 characters; empty for records without a service' }),
      ...Counted,
      share: Type.Number({ description: 'Of the bytes of the signal; 0 to 1' }),
    }),
    { description: `Accepted records, most bytes first, at most ${MAX_SERVICES}` },
  ),
  rejections: Type.Array(NamedObject('TelemetryRejectionUsage', { reason: Type.String(), ...Counted }), {
    description: `Rejected records by reason, at most ${MAX_REASONS}`,
  }),
  drops: Type.Array(NamedObject('TelemetryRuleUsage', { rule: Type.String(), ...Counted }), {
    description: `Records that rules dropped, also rules that were deleted since; at most ${MAX_DROPS} of each signal`,
  }),
  removedAttributes: Type.Array(
    NamedObject('TelemetryRemovedAttribute', {
      key: Type.String({ description: 'Empty for further keys together' }),
      ...Counted,
    }),
    {
      description: `Attributes that were removed from accepted records because of the limit of attribute keys, at most ${MAX_DROPS} keys of each signal`,
    },
  ),
});

export function toUsageRecord({ signals, ...usage }: TelemetryUsage): Static<typeof UsageRecord> {
  const of = Object.fromEntries(signals.map(({ signal, limits }) => [signal, limits]));
  const { maximum: _, ...limits } = toLimitsRecord(
    { logs: of.logs ?? {}, traces: of.traces ?? {}, metrics: of.metrics ?? {} },
    {},
  );
  return {
    ...usage,
    from: isoTime(usage.from),
    to: isoTime(usage.to),
    limits,
    signals: signals.map(({ signal, peak, attributeKeys, streams, removedAttributes }) => ({
      signal,
      peakRowsPerMinute: peak?.rows ?? 0,
      peakAt: peak ? isoTime(peak.at) : null,
      attributeKeysToday: attributeKeys,
      removedAttributes,
      ...(streams !== undefined && { streamsToday: streams }),
    })),
  };
}
