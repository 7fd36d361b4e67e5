import Type, { type Static } from 'typebox';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { StorableText as text } from '../../../kernel/schemas/storable-text.ts';
import { WHERE_LANGUAGES } from '../../charts/series-schema.ts';
import { MAX_CONDITION_CHARACTERS } from '../schema.ts';

const Condition = text({ maxLength: MAX_CONDITION_CHARACTERS });

/** All forms that other clients store. Only the first can be new; see `listFilterViolations`. */
const Filter = Type.Union([
  Type.Object({
    type: Type.Optional(Type.Enum(['sql', 'lucene'], { description: 'Default: sql' })),
    condition: Condition,
  }),
  Type.Object({
    type: Type.Literal('sql_ast'),
    operator: Type.Enum(['=', '<', '>', '!=', '<=', '>=']),
    left: Condition,
    right: Condition,
  }),
]);

export const SavedSearchBody = NamedObject('SavedSearchInput', {
  name: text({ minLength: 1, maxLength: 1024 }),
  sourceId: Type.String({ maxLength: 64 }),
  select: Type.Optional(text({ maxLength: 4096, description: 'Empty for the columns of the source' })),
  where: Type.Optional(text({ maxLength: MAX_CONDITION_CHARACTERS })),
  whereLanguage: Type.Optional(Type.Enum([...WHERE_LANGUAGES], { description: 'Default: lucene' })),
  orderBy: Type.Optional(text({ maxLength: 1024, description: 'Empty for newest first' })),
  tags: Type.Optional(Type.Array(text({ maxLength: 32 }), { maxItems: 50 })),
  filters: Type.Optional(
    Type.Array(Filter, {
      maxItems: 100,
      description: 'A new filter is {type: sql, condition} with <column> IN (…), NOT IN (…) or BETWEEN … AND …',
    }),
  ),
});

export const SavedSearchRecord = NamedObject('SavedSearch', {
  id: Type.String(),
  teamId: Type.String({ description: 'The organization' }),
  name: Type.String(),
  sourceId: Type.String(),
  select: Type.String(),
  where: Type.String(),
  whereLanguage: Type.Enum([...WHERE_LANGUAGES]),
  orderBy: Type.String(),
  tags: Type.Array(Type.String()),
  filters: Type.Array(Filter),
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time' }),
});

export type SavedSearchBody = Static<typeof SavedSearchBody>;
export type SavedSearchFilter = Static<typeof Filter>;
export type SavedSearchRecord = Static<typeof SavedSearchRecord>;
