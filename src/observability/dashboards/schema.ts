import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { StorableText as text } from '../../kernel/schemas/storable-text.ts';
import { FreeObject, WHERE_LANGUAGES } from '../charts/series-schema.ts';
import { ConfigTile, Tile, TileBody } from '../charts/tiles/tile-schema.ts';
import { ResourcePath } from '../sources/resource-id.ts';

const FILTER_TYPES = ['QUERY_EXPRESSION', 'STATIC_LIST', 'PROMETHEUS_LABEL', 'SOURCE_FILTER'] as const;
const MAX_PARTS = 100;
const PartId = text({ minLength: 1, maxLength: 256 });

const Container = NamedObject('ClickStackDashboardContainer', {
  id: PartId,
  title: text({ maxLength: 1024 }),
  collapsed: Type.Boolean(),
  collapsible: Type.Optional(Type.Boolean()),
  bordered: Type.Optional(Type.Boolean()),
  tabs: Type.Optional(
    Type.Array(Type.Object({ id: PartId, title: text({ maxLength: 1024 }) }), { maxItems: MAX_PARTS }),
  ),
});

const filterMembers = { type: Type.Enum([...FILTER_TYPES]), name: text({ maxLength: 1024 }) };
const freeMembers = { additionalProperties: true, maxProperties: 100 };

/** Members of ClickStack dashboards that are stored and returned. The console reads filters and the saved query; the data of tiles does not. */
export const KeptMembers = Type.Object({
  filters: Type.Optional(
    Type.Array(
      Type.Object({ id: Type.Optional(text({ minLength: 1, maxLength: 36 })), ...filterMembers }, freeMembers),
      { maxItems: MAX_PARTS },
    ),
  ),
  savedQuery: Type.Optional(Type.Union([text({ maxLength: 10_000 }), Type.Null()])),
  savedQueryLanguage: Type.Optional(Type.Enum([...WHERE_LANGUAGES])),
  savedFilterValues: Type.Optional(Type.Array(FreeObject(), { maxItems: MAX_PARTS })),
  containers: Type.Optional(Type.Array(Container, { maxItems: MAX_PARTS })),
});

export const DashboardBody = NamedObject('DashboardInput', {
  name: text({ minLength: 1, maxLength: 1024 }),
  tags: Type.Optional(Type.Array(text({ maxLength: 32 }), { maxItems: 50 })),
  ...KeptMembers.properties,
  tiles: Type.Optional(Type.Array(TileBody, { maxItems: 500 })),
});

const filters = Type.Array(Type.Object({ id: Type.String(), ...filterMembers }, freeMembers));

/** As stored and returned, with all defaults. */
export const Dashboard = NamedObject('Dashboard', {
  id: Type.String(),
  name: Type.String(),
  tags: Type.Array(Type.String()),
  ...KeptMembers.properties,
  filters: Type.Optional(filters),
  tiles: Type.Array(Tile),
});

/** The dashboard in the format of ClickStack. */
export const ConfigDashboard = NamedObject('ClickStackDashboardResponse', {
  id: Type.String(),
  name: Type.String(),
  tags: Type.Array(Type.String()),
  ...KeptMembers.properties,
  filters,
  savedQuery: Type.Union([Type.String(), Type.Null()]),
  savedFilterValues: Type.Array(FreeObject()),
  tiles: Type.Array(ConfigTile),
});

/** The form depends on the parameter `format`. */
export const EitherDashboard = Type.Union([Dashboard, ConfigDashboard]);

export const FORMATS = ['series', 'config'] as const;
export type Format = (typeof FORMATS)[number];

export const FormatQuery = Type.Object(
  {
    format: Type.Optional(
      Type.Enum([...FORMATS], {
        description: 'How tiles are returned: with series (default), or with a config as in ClickStack',
      }),
    ),
  },
  { additionalProperties: false },
);

export type KeptMembers = Static<typeof KeptMembers>;
export type DashboardBody = Static<typeof DashboardBody>;
export type Dashboard = Static<typeof Dashboard>;
/** A dashboard that is not stored: ids are missing unless the client set them. */
export type UnstoredDashboard = Omit<Dashboard, 'id' | 'tiles'> & {
  tiles: (Omit<Dashboard['tiles'][number], 'id'> & { id?: string })[];
};

export const DashboardVersionPath = Type.Object({
  ...ResourcePath.properties,
  version: Type.String({ description: 'A version number' }),
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
