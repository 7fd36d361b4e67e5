import type { TokenAccess } from '../../kernel/access/roles.ts';

export const DEFAULT_ACCESS: TokenAccess = 'read';
export const DEFAULT_TOKEN_NAME = 'dashboard token';

/** A dashboard token. Reads the dashboards of one organization; with `write` access it can also change them. */
export interface Token {
  id: string;
  organizationId: string;
  name: string;
  access: TokenAccess;
  tokenHash: string;
  tokenSuffix: string;
  createdAt: number;
  expireAt: number | undefined;
  usedAt: number | undefined;
}
