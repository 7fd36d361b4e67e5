/** Revisions of an organization's data: they increase with every change, and cached responses are valid until then. */
export interface OrganizationRevisions {
  /** Of the cost ledger. */
  costs: number;
  /** Of dashboards and sources. */
  dashboards: number;
}

declare module '../../platform/http/guard.ts' {
  interface Revisions extends OrganizationRevisions {}
}
