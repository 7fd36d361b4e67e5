import Type, { type Static } from 'typebox';
import { text } from '../charts/series-schema.ts';
import { Tile, TileBody } from '../charts/tile-schema.ts';
import { NamedObject } from '../kernel/named-object.ts';
import { ResourcePath } from '../sources/resource-id.ts';

export const DashboardBody = NamedObject('DashboardInput', {
  name: text({ minLength: 1, maxLength: 1024 }),
  tags: Type.Optional(Type.Array(text({ maxLength: 32 }), { maxItems: 50 })),
  tiles: Type.Optional(Type.Array(TileBody, { maxItems: 500 })),
});

/** As stored and returned, with all defaults. */
export const Dashboard = NamedObject('Dashboard', {
  id: Type.String(),
  name: Type.String(),
  tags: Type.Array(Type.String()),
  tiles: Type.Array(Tile),
});

export type DashboardBody = Static<typeof DashboardBody>;
export type Dashboard = Static<typeof Dashboard>;

export const DashboardVersionPath = Type.Object({
  ...ResourcePath.properties,
  version: Type.String({ description: 'A version number' }),
});

export const IfMatch = Type.Object({
  'if-match': Type.Optional(Type.String({ description: 'The etag of the dashboard when it was read' })),
});

export const VersionRecord = NamedObject('DashboardVersion', {
  version: Type.Integer(),
  savedAt: Type.String({ format: 'date-time' }),
  savedBy: Type.String({ description: 'The name of the actor' }),
  name: Type.String(),
  tiles: Type.Integer({ description: 'The number of tiles' }),
  provisionedFrom: Type.Optional(Type.String({ description: 'The file that the dashboard comes from' })),
});

export const WholeVersionRecord = NamedObject('DashboardVersionContents', {
  ...VersionRecord.properties,
  dashboard: Dashboard,
});

export const Validation = NamedObject(
  'DashboardValidation',
  {
    valid: Type.Boolean(),
    errors: Type.Array(Type.Object({ path: Type.String(), message: Type.String() })),
    normalized: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()], {
      description: 'The body with all defaults; null if it is invalid',
    }),
  },
  { description: 'Success' },
);
