export const TOKEN_ACCESSES = ['read', 'write'] as const;
/** A token of `write` may also read. */
export type TokenAccess = (typeof TOKEN_ACCESSES)[number];

/** What a route asks for, and what somebody with either access has. */
export const READ = ['read'] as const;
export const WRITE = ['write'] as const;
export const ACCESS_ROLES: Record<TokenAccess, readonly string[]> = { read: READ, write: [...READ, ...WRITE] };

/** What a token may do when nobody said more. */
export const DEFAULT_ACCESS: TokenAccess = 'read';
export const DEFAULT_TOKEN_NAME = 'dashboard token';

/** A dashboard token: it sees the dashboards of one organization, and with `write` may change them. */
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
