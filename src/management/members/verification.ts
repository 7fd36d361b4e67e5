import type { Grants } from '../../kernel/access/grants.ts';
import { AppError } from '../../kernel/errors.ts';
import type { LastUsed } from '../../platform/credentials/last-used.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { RoleReader } from '../keys/assigned-roles.ts';
import { hasSystemRolesOnly } from '../keys/key.ts';
import type { Member, User } from './member.ts';
import { findMember, findMemberWithRevisions, findUser, findUserBySubject, listMemberships } from './store.ts';

interface Options {
  db: Db;
  lastSeen: LastUsed;
  roleReader: RoleReader;
}

/** A member and, unless it has system roles only, what its roles allow. */
export interface ActiveMember {
  member: Member;
  grants: Grants | undefined;
  costRevision: number;
  dashboardRevision: number;
}

export type MemberVerifier = ReturnType<typeof createMemberVerifier>;

/** For sessions: the membership is read again for every request. */
export function createMemberVerifier({ db, lastSeen, roleReader }: Options) {
  return {
    /** Throws `unauthorized` if the user is not a member of the organization. */
    async getActive(organizationId: string, userId: string): Promise<ActiveMember> {
      const found = await findMemberWithRevisions(db, organizationId, userId);
      if (!found) throw new AppError('unauthorized', 'You are not a member of this organization any more');
      const { member, roleRevision, ...revisions } = found;
      lastSeen.record({ id: member.id, organizationId, usedAt: member.seenAt });
      const grants = hasSystemRolesOnly(member) ? undefined : await roleReader.getGrants(member, roleRevision);
      return { member, grants, ...revisions };
    },

    find: (organizationId: string, userId: string): Promise<Member | undefined> =>
      findMember(db, organizationId, userId),

    /** Of every organization, oldest first. */
    listMemberships: (userId: string): Promise<Member[]> => listMemberships(db, userId),

    findUser: (id: string): Promise<User | undefined> => findUser(db, id),

    findUserBySubject: (issuer: string, subject: string): Promise<User | undefined> =>
      findUserBySubject(db, issuer, subject),
  };
}
