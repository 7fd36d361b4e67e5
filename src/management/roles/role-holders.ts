import { listExcess } from '../../kernel/access/grants.ts';
import type { CustomRole, KeyWithRoles } from '../../kernel/access/roles.ts';
import type { Caller } from '../hand-outs/caller.ts';
import { assertMayHandOut, assertMayManage } from '../hand-outs/hand-out.ts';
import { type Rights, toGrants } from '../hand-outs/rights.ts';

/** Who has a custom role: a key, a member, an invitation or a member rule. */
export interface RoleHolder extends Pick<KeyWithRoles, 'roles' | 'customRoleIds'> {
  /** As error messages name it, such as "the member Ada". */
  name: string;
}

interface RoleChange {
  before: CustomRole;
  after: CustomRole;
  /** The custom roles that the holders have, before the change. */
  customRoles: readonly CustomRole[];
}

/**
 * Throws `forbidden` if the caller may not change what the holders of a role may do: with their other roles, they may do
 * more than the role says, and gain what it denied.
 */
export function assertMayChangeHolders(
  caller: Caller,
  { before, after, customRoles }: RoleChange,
  holders: readonly RoleHolder[],
): void {
  const checked = new Set<string>();
  for (const { name, roles, customRoleIds = [] } of holders) {
    const sameRoles = [...roles, ...customRoleIds].sort().join(' ');
    if (checked.has(sameRoles)) continue;
    checked.add(sameRoles);
    const others = customRoles.filter(({ id }) => id !== before.id && customRoleIds.includes(id));
    const [old, changed] = [before, after].map((role): Rights => ({ roles, customRoles: [...others, role] })) as [
      Rights,
      Rights,
    ];
    const subject = name.charAt(0).toUpperCase() + name.slice(1);
    assertMayManage(caller, old, subject);
    const gains = listExcess(toGrants(old), toGrants(changed)).length > 0;
    (gains ? assertMayHandOut : assertMayManage)(caller, changed, subject);
  }
}
