import Type, { type Static } from 'typebox';
import { MISSING, rejectViolations, type Violation } from '../../kernel/errors.ts';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { createSchemaCheck } from '../../kernel/schemas/schema-check.ts';
import { StorableText as text } from '../../kernel/schemas/storable-text.ts';
import { WHERE_LANGUAGES } from './series-schema.ts';

const MAX_FILTERS = 20;
const MAX_FILTER_VALUES = 100;
/** Of the parameter of a `GET`: a URL has room for it. */
const MAX_PARAMETER_CHARACTERS = 8000;

const TileFilter = NamedObject(
  'TileFilter',
  {
    expression: Type.Optional(
      text({ minLength: 1, maxLength: 10_000, description: 'A column or attribute that has one of the values' }),
    ),
    values: Type.Optional(Type.Array(text({ maxLength: 1024 }), { minItems: 1, maxItems: MAX_FILTER_VALUES })),
    where: Type.Optional(text({ minLength: 1, maxLength: 10_000 })),
    whereLanguage: Type.Optional(Type.Enum([...WHERE_LANGUAGES], { description: 'Of where. Default: lucene' })),
  },
  { description: 'Either an expression with values, or a where' },
);

export const TileFilters = Type.Array(TileFilter, {
  maxItems: MAX_FILTERS,
  description: 'Conditions of the viewer, in addition to those of the tile. All must hold',
});

export type TileFilter = Static<typeof TileFilter>;

/** The filters of a `GET`. */
export const FiltersParameter = Type.Optional(
  Type.String({
    maxLength: MAX_PARAMETER_CHARACTERS,
    description:
      'JSON: a list of conditions in addition to those of the tile, each {"expression": …, "values": […]} or {"where": …, "whereLanguage": …}',
  }),
);

export const UnappliedFilters = Type.Optional(
  Type.Array(Type.Object({ filter: Type.Integer({ description: 'Its index' }), reason: Type.String() }), {
    description: 'The filters that the source of a series cannot apply: the data is not filtered by them',
  }),
);

const shapeViolations = createSchemaCheck(TileFilters, MAX_FILTERS);

/** Throws all violations with their paths. */
export function parseFilters(json: string | undefined): TileFilter[] {
  if (json === undefined) return [];
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    rejectViolations([{ path: 'filters', rule: 'The value must be JSON', value: json }]);
  }
  rejectViolations(shapeViolations(value, 'filters'));
  rejectViolations(listFilterViolations(value as TileFilter[]));
  return value as TileFilter[];
}

/** Checks rules across the members. */
export const listFilterViolations = (filters: readonly TileFilter[]): Violation[] =>
  filters.flatMap(({ expression, values, where }, index): Violation[] => {
    const path = `filters[${index}]`;
    if (where !== undefined && (expression !== undefined || values !== undefined))
      return [{ path: `${path}.where`, rule: 'A filter with a where has neither expression nor values', value: where }];
    if (where !== undefined) return [];
    if (expression === undefined)
      return [{ path: `${path}.expression`, rule: 'The value is required without a where', value: MISSING }];
    return values === undefined
      ? [{ path: `${path}.values`, rule: 'The value is required with an expression', value: MISSING }]
      : [];
  });
