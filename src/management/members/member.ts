import { isKeyRole, type KeyRole, type KeyWithRoles } from '../../kernel/access/roles.ts';
import { DAY_MS } from '../../kernel/time/clock.ts';
import type { MemberRule } from '../organizations/organization.ts';

/** Roles as they are stored: system roles by name, custom roles by id. */
export type RoleSet = Pick<KeyWithRoles, 'roles' | 'customRoleIds'>;

/** A person. One account per issuer and subject, whatever the e-mail address is. */
export interface User {
  id: string;
  issuer: string;
  subject: string;
  /** Empty if unknown. */
  email: string;
  name: string;
  createdAt: number;
}

/** A user in an organization. `roles` and `customRoleIds` are those of both sets together. */
export interface Member extends KeyWithRoles {
  /** Of the user. */
  id: string;
  email: string;
  name: string;
  joinedAt: number;
  seenAt: number | undefined;
  /** By an invitation or an administrator. Undefined if the member belongs to the organization by its rules only. */
  assigned: RoleSet | undefined;
  /** By the member rules, at the last sign-in or refresh. */
  byRules: RoleSet | undefined;
}

/** What an identity provider says about a person. */
export interface Claims {
  readonly [name: string]: unknown;
}

export interface Invitation extends RoleSet {
  id: string;
  organizationId: string;
  /** In lower case. */
  email: string;
  secretHash: string;
  createdAt: number;
  expireAt: number;
  /** Undefined for an invitation of a version that did not store it. */
  invitedBy: Inviter | undefined;
  /**
   * The roles that the invited member had when the invitation was made, and that the inviter may give. Undefined if there
   * was no such member.
   */
  approved: RoleSet | undefined;
}

/** The author of an invitation: a key, a member or a command. */
export interface Inviter {
  id: string;
  name: string;
}

/** As the audit log names it: the names of keys are not unique. */
export const formatInviter = ({ id, name }: Inviter): string => `${name} (${id})`;

export const MAX_MEMBERS = 10_000;
export const MAX_INVITATIONS = 1000;
export const INVITATION_MS = 7 * DAY_MS;

export const formatPerson = ({ name, email }: Pick<Member, 'name' | 'email'>): string =>
  email === '' || name === email ? name : `${name} <${email}>`;

export function unite(...sets: (RoleSet | undefined)[]): RoleSet {
  const roles = [...new Set(sets.flatMap((set) => set?.roles ?? []))];
  const customRoleIds = [...new Set(sets.flatMap((set) => set?.customRoleIds ?? []))];
  return { roles, customRoleIds: customRoleIds.length > 0 ? customRoleIds : undefined };
}

export const toRoleSet = (roles: readonly string[]): RoleSet => {
  const customRoleIds = roles.filter((role) => !isKeyRole(role));
  return {
    roles: roles.filter((role): role is KeyRole => isKeyRole(role)),
    customRoleIds: customRoleIds.length > 0 ? customRoleIds : undefined,
  };
};

export const isSameSet = (a: RoleSet | undefined, b: RoleSet | undefined): boolean =>
  JSON.stringify(a && listRoleKeys(a)) === JSON.stringify(b && listRoleKeys(b));

/** System roles by name, custom roles by id. */
export const listRoleKeys = ({ roles, customRoleIds = [] }: RoleSet): string[] => [...roles, ...customRoleIds].sort();

/** Whether the first set has no role that the second has not. */
export const isWithin = (set: RoleSet, others: RoleSet): boolean =>
  listRoleKeys(set).every((role) => listRoleKeys(others).includes(role));

export const isAdmin = ({ roles }: RoleSet): boolean => roles.includes('admin');

/** The roles that the rules give; undefined if none of them matches. */
export function matchRules(rules: readonly MemberRule[], claims: Claims): RoleSet | undefined {
  const matching = rules.filter((rule) => isMatch(rule, claims));
  return matching.length === 0 ? undefined : unite(...matching.map(({ roles }) => toRoleSet(roles)));
}

/** An address counts only if the provider has verified it: otherwise people could claim any. */
function isMatch({ claim, value }: MemberRule, claims: Claims): boolean {
  const isEmail = claim === 'email';
  if (isEmail && claims.email_verified !== true) return false;
  const normalize = (text: string) => (isEmail ? text.toLowerCase() : text);
  const pattern = normalize(value);
  return listValues(findClaim(claims, claim)).some((text) => matchesPattern(pattern, normalize(text)));
}

/** A claim may be named like a URL, so its whole name is tried before a path. */
function findClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

const listValues = (value: unknown): string[] =>
  [value]
    .flat()
    .filter((one) => typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean')
    .map(String);

/** `*` matches any text, also none. Linear: each part is searched once, from left to right. */
function matchesPattern(pattern: string, text: string): boolean {
  const parts = pattern.split('*');
  const first = parts.shift() ?? '';
  const last = parts.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let position = first.length;
  for (const part of parts) {
    const found = text.indexOf(part, position);
    if (found < 0 || found + part.length > end) return false;
    position = found + part.length;
  }
  return true;
}

/** The verified address in lower case; undefined if there is none. */
export const findVerifiedEmail = ({ email, email_verified }: Claims): string | undefined =>
  typeof email === 'string' && email_verified === true ? email.toLowerCase() : undefined;
