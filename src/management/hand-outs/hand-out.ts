import { FRESH_SIGN_IN_CHALLENGE } from '../../kernel/access/challenges.ts';
import { listExcess } from '../../kernel/access/grants.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Caller } from './caller.ts';
import { isAdministrative, type Rights, toGrants } from './rights.ts';

/**
 * Throws `forbidden` if the caller may not give these rights: they must be part of its own, and the rights of an
 * administrator need a recent sign-in. `subject` is what gives them, such as "The key ci".
 */
export function assertMayHandOut(caller: Caller, rights: Rights, subject: string): void {
  assertMayManage(caller, rights, subject);
  if (isAdministrative(rights)) assertFreshSignIn(caller, `${subject} has rights of an administrator, which`);
}

/** Throws `forbidden` if the rights of what is changed or removed are more than those of the caller. */
export function assertMayManage({ grants }: Caller, rights: Rights, subject: string): void {
  if (!grants) return;
  const [first, ...rest] = listExcess(grants, toGrants(rights));
  if (first === undefined) return;
  const more = rest.length > 0 ? ` and ${rest.length} more` : '';
  throw new AppError(
    'forbidden',
    `${subject} permits operations that this key does not have: ${first}${more}. A key can only manage keys and roles within its own permissions`,
  );
}

/** Throws `forbidden` if the person signed in too long ago; the console then asks them to sign in again. */
export function assertFreshSignIn({ needsFreshSignIn }: Caller, change: string): void {
  if (!needsFreshSignIn) return;
  throw new AppError('forbidden', `${change} needs a sign-in within the last 10 minutes; sign in again`, {
    headers: { 'www-authenticate': FRESH_SIGN_IN_CHALLENGE },
  });
}
