import Type, { type Static } from 'typebox';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';

const MAX_LISTED = 1000;

/** A page of a list that is ordered by id. */
export const ListQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LISTED, description: `Default: ${MAX_LISTED}` })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Default: 0' })),
  },
  { additionalProperties: false },
);

export const ListMeta = NamedObject('ListMeta', {
  total: Type.Integer(),
  limit: Type.Integer(),
  offset: Type.Integer(),
});

export const readListPage = ({ limit = MAX_LISTED, offset = 0 }: Static<typeof ListQuery>) => ({ limit, offset });
