import { createGrants, type Grants } from '../../kernel/access/grants.ts';
import { ADMINS, hasRole, isKeyRole, isTokenAccess, type Role } from '../../kernel/access/roles.ts';
import { getTokenPolicies } from './rights.ts';

/** What the author of a request may do. Nothing that the request hands out may be more. */
export interface Caller {
  /** Undefined without a limit. */
  grants: Grants | undefined;
  /** The person signed in too long ago to hand out the rights of an administrator. */
  needsFreshSignIn: boolean;
}

/** A command on the local store and the fleet file: who can open the store can change everything in it. */
export const UNLIMITED: Caller = { grants: undefined, needsFreshSignIn: false };

/** The part of an identity that decides what it may do. */
interface Permitted {
  roles: readonly Role[];
  grants?: Grants | undefined;
  needsFreshSignIn?: boolean | undefined;
  isLocal?: boolean | undefined;
}

export function toCaller({ roles, grants, needsFreshSignIn = false, isLocal }: Permitted): Caller {
  if (isLocal) return UNLIMITED;
  if (!grants && hasRole(roles, ADMINS)) return { grants, needsFreshSignIn };
  const ofToken = roles.filter(isTokenAccess).map(getTokenPolicies);
  return { grants: grants ?? createGrants(roles.filter(isKeyRole), ofToken), needsFreshSignIn };
}
