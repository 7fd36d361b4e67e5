import { AppError } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import { type Clock, HOUR_MS } from '../../kernel/time/clock.ts';
import type { Actor } from '../../management/audit/activity.ts';
import type { Audit } from '../../management/audit/audit.ts';
import type { Organizations } from '../../management/organizations/organizations.ts';
import { formatExpiry, isExpired } from '../../platform/credentials/expiry.ts';
import type { LastUsed } from '../../platform/credentials/last-used.ts';
import { hashSecret, newLinkSecret, toSuffix } from '../../platform/credentials/secrets.ts';
import type { InTransaction, State } from '../../platform/state/state.ts';
import type { Dashboards } from '../dashboards/dashboards.ts';
import { DEFAULT_LINK_NAME, LISTED_AFTER_EXPIRY_MS, type Link, MAX_LINKS, UNKNOWN_LINK } from './link.ts';
import {
  countLinks,
  deleteExpiredLinks,
  deleteLink,
  findLink,
  findLinkByHash,
  insertLink,
  listLinks,
} from './store.ts';

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  dashboards: Pick<Dashboards, 'get'>;
  lastUsed: LastUsed;
}

export type Links = ReturnType<typeof createLinks>;

export function createLinks({ state, clock, audit, organizations, dashboards, lastUsed }: Options) {
  return {
    /** Returns the secret once; only its hash is stored. */
    async create(
      actor: Actor,
      organizationId: string,
      dashboardId: string,
      { name = DEFAULT_LINK_NAME, expireInHours }: { name?: string; expireInHours: number },
      inTransaction?: InTransaction<Link>,
    ): Promise<{ link: Link; secret: string }> {
      await dashboards.get(organizationId, dashboardId);
      const secret = newLinkSecret();
      const now = clock.now();
      const link: Link = {
        id: newUuid(),
        organizationId,
        dashboardId,
        name,
        secretHash: hashSecret(secret),
        secretSuffix: toSuffix(secret),
        createdAt: now,
        createdBy: actor.details,
        expireAt: now + expireInHours * HOUR_MS,
        usedAt: undefined,
      };
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        await deleteExpiredLinks(tx, organizationId, now - LISTED_AFTER_EXPIRY_MS);
        if ((await countLinks(tx, organizationId)) >= MAX_LINKS)
          throw new AppError(
            'conflict',
            `The organization has reached its limit of ${MAX_LINKS} links to dashboards; revoke one first`,
          );
        await insertLink(tx, link);
        await audit.record(tx, actor, {
          organizationId,
          type: 'dashboard_link_create',
          resource: { type: 'dashboard_link', id: link.id },
          after: toAuditFields(link),
        });
        await inTransaction?.(tx, link);
      });
      return { link, secret };
    },

    /** The links of a dashboard, oldest first. */
    async list(organizationId: string, dashboardId: string): Promise<Link[]> {
      await dashboards.get(organizationId, dashboardId);
      const all = await listLinks(state.db, organizationId);
      return all.filter((link) => link.dashboardId === dashboardId);
    },

    /** The secret is rejected from the next request on. Also for a dashboard that was deleted. */
    async revoke(actor: Actor, organizationId: string, dashboardId: string, id: string): Promise<void> {
      await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const link = (await findLink(tx, organizationId, id))?.credential;
        if (link?.dashboardId !== dashboardId) throw new AppError('not_found', 'Link not found');
        await deleteLink(tx, organizationId, id);
        await audit.record(tx, actor, {
          organizationId,
          type: 'dashboard_link_delete',
          resource: { type: 'dashboard_link', id },
          before: toAuditFields(link),
        });
      });
    },

    /** The link of a secret, which is read for every request. Throws `unauthorized`. */
    async open(secret: string): Promise<Link> {
      const link = (await findLinkByHash(state.db, hashSecret(secret)))?.credential;
      if (!link || isExpired(link.expireAt, clock.now())) throw new AppError('unauthorized', UNKNOWN_LINK);
      lastUsed.record(link);
      return link;
    },
  };
}

/** The fields of a link that the audit log may contain. */
const toAuditFields = ({ name, dashboardId, secretSuffix, expireAt }: Link) => ({
  name,
  dashboardId,
  secretSuffix,
  expireAt: formatExpiry(expireAt),
});
