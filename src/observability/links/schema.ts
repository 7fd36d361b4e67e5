import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { isoTime } from '../../kernel/time/clock.ts';
import { CredentialName } from '../../management/keys/schema.ts';
import { TileQuery } from '../charts/schema.ts';
import { Dashboard } from '../dashboards/schema.ts';
import { ResourcePath } from '../sources/resource-id.ts';
import { type Link, MAX_HOURS, MIN_HOURS } from './link.ts';

export const LinkPath = Type.Object({ ...ResourcePath.properties, linkId: Type.String({ format: 'uuid' }) });

export const CreateLinkBody = NamedObject('DashboardLinkInput', {
  name: Type.Optional(CredentialName),
  expireInHours: Type.Integer({ minimum: MIN_HOURS, maximum: MAX_HOURS, description: 'From now' }),
});

export const LinkRecord = NamedObject('DashboardLink', {
  id: Type.String({ format: 'uuid' }),
  dashboardId: Type.String(),
  name: Type.String(),
  secretSuffix: Type.String({ description: 'The last four characters of the secret' }),
  createdAt: Type.String({ format: 'date-time' }),
  createdBy: Type.String({ description: 'The name of the key or token' }),
  expireAt: Type.String({ format: 'date-time' }),
  usedAt: Type.Optional(Type.String({ format: 'date-time', description: 'The last use, to the minute' })),
});

export const CreateLinkResult = NamedObject('DashboardLinkCreated', {
  link: LinkRecord,
  path: Type.Optional(
    Type.String({
      description:
        'The page of the link on this server, with the secret after #; returned once, absent when a response is replayed',
    }),
  ),
});

const MAX_SECRET_CHARACTERS = 128;

/** A header, because URLs are logged. */
export const LINK_HEADER = 'x-pilothouse-link';
export const LinkHeaders = Type.Object({
  [LINK_HEADER]: Type.String({ maxLength: MAX_SECRET_CHARACTERS, description: 'The secret of the link' }),
});

export const SharedTilePath = Type.Object({ tileId: Type.String({ maxLength: 64 }) });

const { start, end, points, timezone } = TileQuery.properties;
/** Where and how wide, but nothing about what is queried. */
export const SharedTileQuery = Type.Object({ start, end, points, timezone }, { additionalProperties: false });

export const SharedDashboard = NamedObject('SharedDashboard', {
  dashboard: Dashboard,
  expireAt: Type.String({ format: 'date-time' }),
});

export const toLinkRecord = (link: Link): Static<typeof LinkRecord> => ({
  id: link.id,
  dashboardId: link.dashboardId,
  name: link.name,
  secretSuffix: link.secretSuffix,
  createdAt: isoTime(link.createdAt),
  createdBy: link.createdBy,
  expireAt: isoTime(link.expireAt),
  ...(link.usedAt === undefined ? {} : { usedAt: isoTime(link.usedAt) }),
});
