import { DAY_MS } from '../../kernel/time/clock.ts';

/** Gives read access to one dashboard, to everyone who has its secret. */
export interface Link {
  id: string;
  organizationId: string;
  dashboardId: string;
  name: string;
  secretHash: string;
  secretSuffix: string;
  createdAt: number;
  /** The name of the actor. */
  createdBy: string;
  expireAt: number;
  usedAt: number | undefined;
}

export const DEFAULT_LINK_NAME = 'link';
export const MIN_HOURS = 1;
export const MAX_HOURS = 90 * 24;
/** Per organization. */
export const MAX_LINKS = 200;
/** How long an expired link is still listed. */
export const LISTED_AFTER_EXPIRY_MS = 7 * DAY_MS;

/** The same for every link that does not work: a guess learns nothing. */
export const UNKNOWN_LINK = 'This link does not exist, has expired or was revoked, or its dashboard was deleted';
