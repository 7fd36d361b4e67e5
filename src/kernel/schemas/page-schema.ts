import Type from 'typebox';
import { MAX_PAGE_SIZE, SORTS } from '../page.ts';
import { StorableText } from './storable-text.ts';

const MAX_CURSOR_CHARACTERS = 4096;

/** The query parameters of a list with pages (decision M6). */
export const PAGE_PARAMETERS = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, description: `Records per page; defaults to ${MAX_PAGE_SIZE}` }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: MAX_CURSOR_CHARACTERS, description: 'The nextCursor of the previous page' }),
  ),
};

export const PageQuery = Type.Object(PAGE_PARAMETERS, { additionalProperties: false });

/** The query parameters of a list that can be sorted and searched. */
export const SORTED_PAGE_PARAMETERS = {
  ...PAGE_PARAMETERS,
  sort: Type.Optional(
    Type.Enum([...SORTS], {
      description: 'The order: by creation time or name, with - in descending order; defaults to createdAt',
    }),
  ),
  search: Type.Optional(
    StorableText({ minLength: 1, maxLength: 255, description: 'Part of the name or id, ignoring case' }),
  ),
};

export const SortedPageQuery = Type.Object(SORTED_PAGE_PARAMETERS, { additionalProperties: false });
