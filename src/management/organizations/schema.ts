import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { isoSeconds } from '../../kernel/time/clock.ts';
import {
  type Organization,
  TELEMETRY_LIMITS,
  TELEMETRY_SIGNALS,
  type TelemetryLimit,
  type TelemetrySignal,
  TIERS,
} from './organization.ts';

export const OrganizationPath = Type.Object({
  organizationId: Type.String({ format: 'uuid', description: 'Case-insensitive' }),
});

export const OrganizationRecord = NamedObject('Organization', {
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  createdAt: Type.String({ format: 'date-time' }),
  tier: Type.Enum([...TIERS]),
  privateEndpoints: Type.Array(Type.Object({}), { description: 'Always empty' }),
  byocConfig: Type.Array(Type.Object({}), { description: 'Always empty: services run where the control plane runs' }),
  enableCoreDumps: Type.Boolean({ description: 'Always false' }),
  keepSqlLiterals: Type.Boolean({
    description: 'Whether the activities of statements have their literals and comments',
  }),
  capabilities: Type.Object({ snapshots: Type.Boolean({ description: 'Always false' }) }),
});

export const toOrganizationRecord = ({
  id,
  name,
  createdAt,
  tier,
  keepsSqlLiterals,
}: Organization): Static<typeof OrganizationRecord> => ({
  id,
  name,
  createdAt: isoSeconds(createdAt),
  tier,
  privateEndpoints: [],
  byocConfig: [],
  enableCoreDumps: false,
  keepSqlLiterals: keepsSqlLiterals,
  capabilities: { snapshots: false },
});

export const MAX_RETENTION_DAYS = 3650;

const Days = Type.Integer({ minimum: 1, maximum: MAX_RETENTION_DAYS });

/** Of a fleet file. */
export const TelemetryRetention = Type.Object(
  Object.fromEntries(TELEMETRY_SIGNALS.map((signal) => [signal, Type.Optional(Days)])) as {
    [signal in TelemetrySignal]: ReturnType<typeof Type.Optional<typeof Days>>;
  },
  { additionalProperties: false },
);

/** Larger than any server can receive. */
export const MAX_TELEMETRY_LIMIT = 999_999_999_999;

/** An object with a member of the type `of` for each limit of a signal. */
export const LimitsOf = <T extends Type.TSchema>(signal: TelemetrySignal, of: T) =>
  Type.Object(
    Object.fromEntries(
      Object.entries(TELEMETRY_LIMITS).flatMap(([limit, signals]) =>
        signals.some((one) => one === signal) ? [[limit, of]] : [],
      ),
    ) as { [limit in TelemetryLimit]: T },
    { additionalProperties: false },
  );

const OptionalLimit = Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_TELEMETRY_LIMIT }));

/** Of a fleet file. */
export const TelemetryLimits = Type.Object(
  Object.fromEntries(TELEMETRY_SIGNALS.map((signal) => [signal, Type.Optional(LimitsOf(signal, OptionalLimit))])) as {
    [signal in TelemetrySignal]: Type.TOptional<ReturnType<typeof LimitsOf<typeof OptionalLimit>>>;
  },
  { additionalProperties: false },
);
