import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { StorableText } from '../../kernel/schemas/storable-text.ts';
import { ServicePath } from '../../management/services/schema.ts';
import type { ListedQuery, SavedQuery, SavedQueryContent } from './saved-query-store.ts';
import { MAX_SQL_CHARACTERS, ParameterValues } from './schema.ts';

const MAX_LISTED = 100;

const name = StorableText({ minLength: 1, maxLength: 255 });
const database = StorableText({ maxLength: 255, description: 'The database of names without one; may be empty' });
const id = Type.String({ format: 'uuid' });

export const SavedQueryPath = Type.Object({ ...ServicePath.properties, queryId: Type.String({ format: 'uuid' }) });

export const SavedQueryListQuery = Type.Object(
  {
    cursor: Type.Optional(Type.String({ maxLength: 4096, description: 'The nextCursor of the previous page' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_LISTED, description: `Records per page; defaults to ${MAX_LISTED}` }),
    ),
  },
  { additionalProperties: false },
);

export const SavedQueryBody = NamedObject('SavedQueryRequest', {
  name,
  sql: StorableText({ maxLength: MAX_SQL_CHARACTERS, description: 'One statement' }),
  database,
  parameters: Type.Optional(ParameterValues),
});

export const SavedQueryListItem = NamedObject('SavedQueryListItem', {
  id,
  name: Type.String(),
  database: Type.String(),
});

export const SavedQueryRecord = NamedObject('SavedQuery', {
  id,
  name: Type.String(),
  sql: Type.String(),
  database: Type.String(),
  parameters: Type.Record(Type.String(), Type.String()),
});

export const toContent = ({
  name: title,
  sql,
  database: place,
  parameters = {},
}: Static<typeof SavedQueryBody>): SavedQueryContent => ({ name: title, sql, database: place, parameters });

export const toListItem = ({ createdAt, ...item }: ListedQuery): Static<typeof SavedQueryListItem> => item;

export const toSavedQueryRecord = ({ createdAt, ...query }: SavedQuery): Static<typeof SavedQueryRecord> => query;
