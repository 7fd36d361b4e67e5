export const TIERS = ['BASIC', 'SCALE', 'ENTERPRISE'] as const;
export type Tier = (typeof TIERS)[number];

/** What the rules for a change ask of the organization. */
export type TakenOrganization = Pick<Organization, 'tier' | 'isPaid' | 'costRevision'>;

/** Whoever owns services, keys, costs and dashboards. Nothing is shared between two of them. */
export interface Organization {
  id: string;
  name: string;
  tier: Tier;
  isPaid: boolean;
  createdAt: number;
  /** Goes up with every change of the organization's cost ledger. */
  costRevision: number;
}
