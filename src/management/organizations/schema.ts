import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { StorableText } from '../../kernel/schemas/storable-text.ts';
import { isoSeconds } from '../../kernel/time/clock.ts';
import {
  type Organization,
  RULE_ACTIONS,
  RULE_LANGUAGES,
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
export const LimitObject = <T extends Type.TSchema>(signal: TelemetrySignal, of: T) =>
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
  Object.fromEntries(
    TELEMETRY_SIGNALS.map((signal) => [signal, Type.Optional(LimitObject(signal, OptionalLimit))]),
  ) as {
    [signal in TelemetrySignal]: Type.TOptional<ReturnType<typeof LimitObject<typeof OptionalLimit>>>;
  },
  { additionalProperties: false },
);

export const MAX_TELEMETRY_RULES = 20;
const MAX_RULE_CHARACTERS = 1000;
export const DEFAULT_RULE = { where: '', whereLanguage: 'lucene', enabled: true } as const;

/** Of a request and of a fleet file. */
export const TelemetryRuleInput = NamedObject(
  'TelemetryRuleInput',
  {
    name: StorableText({ minLength: 1, maxLength: 100, description: 'Unique; what was dropped is counted by it' }),
    signal: Type.Enum([...TELEMETRY_SIGNALS]),
    where: Type.Optional(
      StorableText({
        maxLength: MAX_RULE_CHARACTERS,
        description:
          'A condition on the columns of a row, as in a search, without times, arithmetic and regular expressions. Default: all records',
      }),
    ),
    whereLanguage: Type.Optional(Type.Enum([...RULE_LANGUAGES], { description: 'Default: lucene' })),
    action: Type.Enum([...RULE_ACTIONS], {
      description:
        'sample keeps a part: whole traces with their logs, whole metric streams, and logs without a trace one by one',
    }),
    keepPercent: Type.Optional(
      Type.Number({ minimum: 0.001, maximum: 99.999, description: 'How much of it is kept; required for sample' }),
    ),
    enabled: Type.Optional(Type.Boolean({ description: 'Default: true' })),
  },
  { additionalProperties: false },
);
