export const TIERS = ['BASIC', 'SCALE', 'ENTERPRISE'] as const;
export type Tier = (typeof TIERS)[number];

/** The fields that the rules of a change depend on. */
export type LockedOrganization = Pick<Organization, 'tier' | 'isPaid' | 'costRevision'>;

/** Owns services, keys, costs and dashboards. Organizations share nothing. */
export interface Organization {
  id: string;
  name: string;
  tier: Tier;
  isPaid: boolean;
  createdAt: number;
  /** Incremented by every change of the cost ledger. */
  costRevision: number;
}
