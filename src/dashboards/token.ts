/** A dashboard token: it sees the dashboards of one organization. */
export interface Token {
  id: string;
  organizationId: string;
  name: string;
  tokenHash: string;
  tokenSuffix: string;
  createdAt: number;
  expireAt: number | undefined;
  usedAt: number | undefined;
}
