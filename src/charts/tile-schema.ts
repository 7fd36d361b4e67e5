import Type, { type Static } from 'typebox';
import { NamedObject } from '../kernel/named-object.ts';
import { Series, SeriesBody, text } from './series-schema.ts';

export const GRID_COLUMNS = 24;

export const TileBody = NamedObject('TileInput', {
  id: Type.Optional(text({ minLength: 1, maxLength: 36 })),
  name: Type.Optional(text({ maxLength: 1024 })),
  asRatio: Type.Optional(Type.Boolean()),
  x: Type.Integer({ minimum: 0, maximum: GRID_COLUMNS - 1 }),
  y: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  w: Type.Integer({ minimum: 1, maximum: GRID_COLUMNS }),
  h: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  series: Type.Array(SeriesBody, { minItems: 1, maxItems: 20 }),
});

export const Tile = NamedObject('Tile', {
  ...TileBody.properties,
  id: Type.String(),
  name: Type.String(),
  asRatio: Type.Boolean(),
  series: Type.Array(Series),
});

export type Tile = Static<typeof Tile>;
