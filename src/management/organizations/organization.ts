export const TIERS = ['BASIC', 'SCALE', 'ENTERPRISE'] as const;
export type Tier = (typeof TIERS)[number];

/** The fields that the rules of a change depend on. */
export type LockedOrganization = Pick<Organization, 'tier' | 'isPaid' | 'costRevision'>;

export const TELEMETRY_SIGNALS = ['logs', 'traces', 'metrics'] as const;
export type TelemetrySignal = (typeof TELEMETRY_SIGNALS)[number];

/** Days; a signal without a number has the retention of the server. */
export type TelemetryRetention = Partial<Record<TelemetrySignal, number>>;

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
}
