export const TIERS = ['BASIC', 'SCALE', 'ENTERPRISE'] as const;
export type Tier = (typeof TIERS)[number];

/** The fields that the rules of a change depend on. */
export type LockedOrganization = Pick<Organization, 'tier' | 'isPaid' | 'costRevision'>;

export const TELEMETRY_SIGNALS = ['logs', 'traces', 'metrics'] as const;
export type TelemetrySignal = (typeof TELEMETRY_SIGNALS)[number];

/** Days; a signal without a number has the retention of the server. */
export type TelemetryRetention = Partial<Record<TelemetrySignal, number>>;

/** What an organization may send, by signal. Only metrics have streams: a metric with one set of attributes. */
export const TELEMETRY_LIMITS = {
  rowsPerMinute: ['logs', 'traces', 'metrics'],
  bytesPerMinute: ['logs', 'traces', 'metrics'],
  attributeKeysPerDay: ['logs', 'traces', 'metrics'],
  streamsPerDay: ['metrics'],
} as const satisfies Record<string, readonly TelemetrySignal[]>;
export type TelemetryLimit = keyof typeof TELEMETRY_LIMITS;

/** A limit that is not set is that of the server. */
export type TelemetryLimits = Partial<Record<TelemetrySignal, Partial<Record<TelemetryLimit, number>>>>;

export const RULE_ACTIONS = ['drop', 'sample'] as const;
export const RULE_LANGUAGES = ['lucene', 'sql'] as const;

/** What happens to received records that a condition is true for, instead of being stored. The first such rule decides. */
export interface TelemetryRule {
  /** Unique in its organization. */
  name: string;
  signal: TelemetrySignal;
  /** Empty: all records. */
  where: string;
  whereLanguage: (typeof RULE_LANGUAGES)[number];
  action: (typeof RULE_ACTIONS)[number];
  /** Of a `sample`: how many of the traces, logs or streams are kept, more than 0 and less than 100. */
  keepPercent?: number;
  enabled: boolean;
}

/** Gives roles to people by a claim of their identity provider. */
export interface MemberRule {
  /** The name of the claim, or a path such as `realm_access.roles`. */
  claim: string;
  /** The claim, or one of its values; `*` stands for any text. */
  value: string;
  /** System roles by name, custom roles by id. */
  roles: string[];
}

/** Owns services, keys, costs and dashboards. Organizations share nothing. */
export interface Organization {
  id: string;
  name: string;
  tier: Tier;
  isPaid: boolean;
  createdAt: number;
  /** Incremented by every change of the cost ledger. */
  costRevision: number;
  telemetryRetention: TelemetryRetention;
  telemetryLimits: TelemetryLimits;
  /** In the order in which they apply. */
  telemetryRules: TelemetryRule[];
  memberRules: MemberRule[];
  /** The audit log has statements as they were sent; otherwise without literals and comments. */
  keepsSqlLiterals: boolean;
}
