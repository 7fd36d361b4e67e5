import Type, { type Static } from 'typebox';
import { KEY_ROLES, TOKEN_ACCESSES } from '../../kernel/access/roles.ts';
import { MAX_METRIC_MICROS, MICROS_PER_CHC, microsFromChc } from '../../kernel/numbers/money.ts';
import { StorableText } from '../../kernel/schemas/storable-text.ts';
import { parseDate, parseDateTime } from '../../kernel/time/clock.ts';
import { ENTITY_TYPES } from '../../management/billing/entity.ts';
import { METRICS, type Metric } from '../../management/billing/meter.ts';
import { MAX_CUSTOM_ROLES_PER_KEY } from '../../management/keys/assigned-roles.ts';
import { KEY_STATES } from '../../management/keys/key.ts';
import { HashData, IpAccessEntry } from '../../management/keys/schema.ts';
import { TIERS } from '../../management/organizations/organization.ts';
import {
  MAX_TELEMETRY_RULES,
  TelemetryLimits,
  TelemetryRetention,
  TelemetryRuleInput,
} from '../../management/organizations/schema.ts';
import { MAX_POLICIES } from '../../management/roles/role.ts';
import { PolicyBody } from '../../management/roles/schema.ts';
import { DRIVER_NAMES, SERVICE_STATES } from '../../management/services/driver.ts';
import { MAX_TAGS } from '../../management/services/entry-lists.ts';
import { DoubleSha1Hash, PasswordHash, Tag } from '../../management/services/lifecycle/lifecycle-schema.ts';
import { AutoscalingMode } from '../../management/services/scaling/current-scaling.ts';
import { MAX_ENTRIES, ScheduleEntryRequest } from '../../management/services/scaling/schedule-schema.ts';
import {
  IdleScaling,
  IdleTimeoutMinutes,
  NumReplicas,
  ReplicaBound,
  ReplicaMemoryGb,
  TotalMemoryGb,
} from '../../management/services/schema.ts';
import { SERVICE_KINDS } from '../../management/services/service.ts';
import {
  AutoscalerBody,
  BackupConfigurationRecord,
  QueryEndpointBody,
} from '../../management/services/settings/settings-schema.ts';
import { DashboardBody } from '../../observability/dashboards/schema.ts';
import { ResourceId } from '../../observability/sources/resource-id.ts';
import { SourceSpec } from '../../observability/sources/schema.ts';
import { ALERTING_MEMBERS } from './alerting-schema.ts';
import { KubernetesSpec, WebhookSpec } from './driver-options.ts';

const exact = { additionalProperties: false };

/** Other types are reported by the schema. */
const checkString = (isValid: (text: string) => boolean) => (value: unknown) =>
  typeof value !== 'string' || isValid(value);

const text = (minLength: number, maxLength: number) => StorableText({ minLength, maxLength });
const Uuid = Type.String({ format: 'uuid' });
const Time = Type.Refine(
  Type.String(),
  checkString((value) => parseDateTime(value, { offset: 'required' }) !== undefined),
  () => 'The value must be an ISO 8601 date-time with an offset or Z',
);
const OptionalTime = Type.Refine(
  Type.String(),
  checkString((value) => value === '' || parseDateTime(value, { offset: 'required' }) !== undefined),
  () => 'The value must be an ISO 8601 date-time with an offset or Z, or empty',
);
const PlainDate = Type.Refine(
  Type.String(),
  checkString((value) => parseDate(value) !== undefined),
  () => 'The value must be a date (YYYY-MM-DD)',
);

const ExactHashData = Type.Object(HashData.properties, exact);
const ExactIpAccessList = Type.Array(Type.Object(IpAccessEntry.properties, exact), { maxItems: 1000 });

/** Shorter secrets can be guessed in spite of the limit for failed attempts. */
const MIN_SECRET_LENGTH = 8;
const Secret = text(MIN_SECRET_LENGTH, 1024);

const optionalText = () => Type.Optional(text(0, 4096));

export const ServiceSpec = Type.Object(
  {
    id: Type.Optional(Uuid),
    name: text(1, 255),
    kind: Type.Optional(Type.Enum([...SERVICE_KINDS])),
    isTierOmitted: Type.Optional(Type.Boolean()),
    driver: Type.Optional(Type.Enum([...DRIVER_NAMES])),
    state: Type.Optional(Type.Enum([...SERVICE_STATES])),
    dataWarehouseId: Type.Optional(Uuid),
    isPrimary: Type.Optional(Type.Boolean()),
    autoscalingMode: Type.Optional(AutoscalingMode),
    numReplicas: Type.Optional(NumReplicas),
    maxReplicas: Type.Optional(ReplicaBound('maximum')),
    minTotalMemoryGb: Type.Optional(TotalMemoryGb('minimum')),
    maxTotalMemoryGb: Type.Optional(TotalMemoryGb('maximum')),
    minReplicaMemoryGb: Type.Optional(ReplicaMemoryGb('minimum')),
    maxReplicaMemoryGb: Type.Optional(ReplicaMemoryGb('maximum')),
    idleScaling: Type.Optional(IdleScaling),
    idleTimeoutMinutes: Type.Optional(IdleTimeoutMinutes),
    createdAt: Type.Optional(Time),
    provider: optionalText(),
    region: optionalText(),
    databaseVersion: optionalText(),
    endpoints: Type.Optional(
      Type.Array(
        Type.Object(
          {
            protocol: text(1, 64),
            host: text(1, 255),
            port: Type.Integer({ minimum: 1, maximum: 65535 }),
            username: optionalText(),
          },
          exact,
        ),
      ),
    ),
    ipAccessList: Type.Optional(ExactIpAccessList),
    tags: Type.Optional(Type.Array(Type.Object(Tag.properties, exact), { maxItems: MAX_TAGS })),
    password: Type.Optional(Secret),
    passwordHash: Type.Optional(PasswordHash),
    passwordDoubleSha1Hash: Type.Optional(DoubleSha1Hash),
    backupConfiguration: Type.Optional(Type.Object(BackupConfigurationRecord.properties, exact)),
    serviceQueryEndpoint: Type.Optional(
      Type.Object({ id: Type.Optional(Uuid), ...QueryEndpointBody.properties }, exact),
    ),
    scalingSchedule: Type.Optional(
      Type.Array(
        Type.Object({ id: Type.Optional(Uuid), ...Type.Omit(ScheduleEntryRequest, ['numReplicas']).properties }, exact),
        { maxItems: MAX_ENTRIES },
      ),
    ),
    kubernetes: Type.Optional(KubernetesSpec),
    webhook: Type.Optional(WebhookSpec(Secret)),
    autoscaling: Type.Optional(Type.Object(AutoscalerBody.properties, exact)),
    isReadonly: Type.Optional(Type.Boolean()),
    iamRole: optionalText(),
    byocId: optionalText(),
    privateEndpointIds: Type.Optional(Type.Array(text(1, 255))),
    availablePrivateEndpointIds: Type.Optional(Type.Array(text(1, 255))),
    encryptionKey: optionalText(),
    encryptionAssumedRoleIdentifier: optionalText(),
    encryptionRoleId: optionalText(),
    hasTransparentDataEncryption: Type.Optional(Type.Boolean()),
    transparentDataEncryptionKeyId: optionalText(),
  },
  exact,
);

/** A list of roles has no pages. */
const MAX_DECLARED_ROLES = 1000;

export const RoleSpec = Type.Object(
  {
    id: Type.Optional(Uuid),
    name: text(1, 255),
    policies: Type.Optional(Type.Array(Type.Object(PolicyBody.properties, exact), { maxItems: MAX_POLICIES })),
    createdAt: Type.Optional(Time),
  },
  exact,
);

export const KeySpec = Type.Object(
  {
    id: Type.Optional(Uuid),
    name: Type.Optional(text(1, 255)),
    keyId: Type.Optional(text(1, 255)),
    keySecret: Type.Optional(Secret),
    hashData: Type.Optional(ExactHashData),
    roles: Type.Optional(Type.Array(Type.Enum([...KEY_ROLES]), { minItems: 1, uniqueItems: true })),
    /** By the name of a role in the file, or by id. */
    customRoles: Type.Optional(Type.Array(text(1, 255), { maxItems: MAX_CUSTOM_ROLES_PER_KEY, uniqueItems: true })),
    state: Type.Optional(Type.Enum([...KEY_STATES])),
    expireAt: Type.Optional(OptionalTime),
    ipAccessList: Type.Optional(ExactIpAccessList),
    createdAt: Type.Optional(Time),
  },
  exact,
);

export const TokenSpec = Type.Object(
  {
    id: Type.Optional(Uuid),
    name: text(1, 255),
    token: Type.Optional(Secret),
    tokenHash: Type.Optional(HashData.properties.keyIdHash),
    tokenSuffix: Type.Optional(text(0, 4)),
    access: Type.Optional(Type.Enum([...TOKEN_ACCESSES])),
    expireAt: Type.Optional(OptionalTime),
    createdAt: Type.Optional(Time),
  },
  exact,
);

const Chc = Type.Refine(
  Type.Number(),
  (value) => typeof value !== 'number' || microsFromChc(value) !== undefined,
  () => `The value must be an amount from 0 to ${MAX_METRIC_MICROS / MICROS_PER_CHC} with at most 6 decimals`,
);

type WireMetrics = { [metric in Metric as `${metric}CHC`]: ReturnType<typeof Type.Optional<typeof Chc>> };

export const CostSpec = Type.Object(
  {
    date: PlainDate,
    entityType: Type.Enum([...ENTITY_TYPES]),
    entityId: Uuid,
    entityName: Type.Optional(text(1, 1024)),
    dataWarehouseId: Type.Optional(Uuid),
    serviceId: Type.Optional(Uuid),
    locked: Type.Optional(Type.Boolean()),
    metrics: Type.Optional(
      Type.Object(
        Object.fromEntries(METRICS.map((metric) => [`${metric}CHC`, Type.Optional(Chc)])) as WireMetrics,
        exact,
      ),
    ),
  },
  exact,
);

export const DashboardSpec = Type.Object({ id: Type.Optional(ResourceId), ...DashboardBody.properties });

const MAX_MEMBER_RULES = 1000;

const MemberRuleSpec = Type.Object(
  {
    claim: text(1, 255),
    value: text(1, 1024),
    /** System roles by name; custom roles by the name of a role in the file, or by id. */
    roles: Type.Array(text(1, 255), { minItems: 1, maxItems: MAX_CUSTOM_ROLES_PER_KEY, uniqueItems: true }),
  },
  exact,
);

export const OrganizationSpec = Type.Object(
  {
    id: Type.Optional(Uuid),
    name: text(1, 255),
    tier: Type.Optional(Type.Enum([...TIERS])),
    paid: Type.Optional(Type.Boolean()),
    createdAt: Type.Optional(Time),
    telemetryRetention: Type.Optional(TelemetryRetention),
    telemetryLimits: Type.Optional(TelemetryLimits),
    telemetryRules: Type.Optional(Type.Array(TelemetryRuleInput, { maxItems: MAX_TELEMETRY_RULES })),
    memberRules: Type.Optional(Type.Array(MemberRuleSpec, { maxItems: MAX_MEMBER_RULES })),
    keepSqlLiterals: Type.Optional(Type.Boolean()),
    services: Type.Optional(Type.Array(ServiceSpec)),
    roles: Type.Optional(Type.Array(RoleSpec, { maxItems: MAX_DECLARED_ROLES })),
    keys: Type.Optional(Type.Array(KeySpec)),
    dashboardTokens: Type.Optional(Type.Array(TokenSpec)),
    sources: Type.Optional(Type.Array(SourceSpec)),
    dashboards: Type.Optional(Type.Array(DashboardSpec)),
    ...ALERTING_MEMBERS,
    usageCosts: Type.Optional(Type.Array(CostSpec)),
  },
  exact,
);

export const FleetFile = Type.Object({ organizations: Type.Array(OrganizationSpec) }, exact);

export type OrganizationSpec = Static<typeof OrganizationSpec>;
export type ServiceSpec = Static<typeof ServiceSpec>;
export type RoleSpec = Static<typeof RoleSpec>;
export type KeySpec = Static<typeof KeySpec>;
export type TokenSpec = Static<typeof TokenSpec>;
export type CostSpec = Static<typeof CostSpec>;
export type DashboardSpec = Static<typeof DashboardSpec>;
export type FleetFile = Static<typeof FleetFile>;
