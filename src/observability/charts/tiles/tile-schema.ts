import Type, { type Static } from 'typebox';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { StorableText as text } from '../../../kernel/schemas/storable-text.ts';
import { Series, SeriesBody } from '../series-schema.ts';
import { TileConfig } from './config-schema.ts';

export const GRID_COLUMNS = 24;

export const TileBody = NamedObject('TileInput', {
  id: Type.Optional(text({ minLength: 1, maxLength: 36 })),
  name: Type.Optional(text({ maxLength: 1024 })),
  asRatio: Type.Optional(Type.Boolean()),
  x: Type.Integer({ minimum: 0, maximum: GRID_COLUMNS - 1 }),
  y: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  w: Type.Integer({ minimum: 1, maximum: GRID_COLUMNS }),
  h: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  series: Type.Optional(
    Type.Array(SeriesBody, { minItems: 1, maxItems: 20, description: 'Either this or config is required' }),
  ),
  description: Type.Optional(text({ maxLength: 10_000 })),
  containerId: Type.Optional(text({ minLength: 1, maxLength: 256 })),
  tabId: Type.Optional(text({ minLength: 1, maxLength: 256 })),
  ignoresFilters: Type.Optional(
    Type.Boolean({ description: 'The console does not apply the filters of the dashboard. Only in Pilothouse' }),
  ),
  config: Type.Optional(TileConfig),
});

export const Tile = NamedObject('Tile', {
  ...TileBody.properties,
  id: Type.String(),
  name: Type.String(),
  asRatio: Type.Boolean(),
  series: Type.Array(Series),
  config: Type.Optional(
    NamedObject('ClickStackTileConfig', TileConfig.properties, {
      description:
        'Present if the tile was written as a config that series cannot express; they are the most similar ones',
    }),
  ),
});

/** The tile in the format of ClickStack. */
export const ConfigTile = NamedObject('ClickStackTileOutput', {
  ...TileBody.properties,
  id: Type.String(),
  name: Type.String(),
  config: TileConfig,
  asRatio: Type.Optional(Type.Boolean()),
  series: Type.Optional(
    Type.Array(Series, {
      description: 'Present if the tile was written as series that a config cannot express; it is the most similar one',
    }),
  ),
});

export type TileBody = Static<typeof TileBody>;
export type ConfigTile = Static<typeof ConfigTile>;
export type Tile = Static<typeof Tile>;
