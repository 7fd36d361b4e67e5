import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';
import { rejectViolations } from '../../../kernel/errors.ts';
import { MAX_PAGE_SIZE, type PageRequest, type Position, type Sort } from '../../../kernel/page.ts';
import type { SortedPageQuery } from '../../../kernel/schemas/page-schema.ts';
import { isStorable } from '../../../kernel/text.ts';
import { getIdentity } from '../guard.ts';
import { managementResponse, success } from './envelopes.ts';

const CHECKSUM_CHARACTERS = 16;
const CURSOR_RULE =
  'The cursor is not valid: send the nextCursor of the previous page of this list, with the same parameters';

/** The response of a list with pages. `more` are further members beside `limit` and `nextCursor`. */
export const pageResponse = <T extends TSchema>(record: T, more: Record<string, TSchema> = {}) =>
  managementResponse(Type.Array(record), {
    limit: Type.Optional(
      Type.Integer({ description: 'Records per page; present with limit or cursor, or if there are more records' }),
    ),
    nextCursor: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'The cursor of the next page, null on the last page; present together with limit',
      }),
    ),
    ...more,
  });

type Kind = 'text' | 'integer';

/** Reads `limit` and `cursor`. `shape` has the type of each value of a position. */
export function readPage(request: object, shape: readonly Kind[]): PageRequest {
  const { limit = MAX_PAGE_SIZE, cursor } = getPageParameters(request);
  if (cursor === undefined) return { limit, after: undefined };
  const after = parseCursor(cursor, describeList(request), shape);
  if (!after) rejectViolations([{ path: 'cursor', rule: CURSOR_RULE, value: cursor }]);
  return { limit, after };
}

/** As `readPage`, with `sort` and `search`. */
export function readSortedPage(request: object, { sort = 'createdAt', search }: Static<typeof SortedPageQuery>) {
  const page = readPage(request, [sort.endsWith('name') ? 'text' : 'integer', 'text']);
  return { ...page, sort: sort as Sort, search };
}

/** Adds `limit` and `nextCursor` if the caller sent `limit` or `cursor`, or if there are more records. */
export function pageSuccess<T>(request: object, { limit }: PageRequest, result: T[], next: Position | undefined) {
  const envelope = success(request as FastifyRequest, result);
  const parameters = getPageParameters(request);
  if (!next && parameters.limit === undefined && parameters.cursor === undefined) return envelope;
  return { ...envelope, limit, nextCursor: next ? formatCursor(next, describeList(request)) : null };
}

/** The cursor of the next page, for responses with another envelope. */
export const formatNextCursor = (request: object, next: Position): string => formatCursor(next, describeList(request));

const getPageParameters = (request: object) =>
  (request as FastifyRequest).query as { limit?: number; cursor?: string; [name: string]: unknown };

/** The list that a cursor belongs to: operation, organization and filters. */
function describeList(request: object): string {
  const { operation } = (request as FastifyRequest).routeOptions.config;
  const { limit, cursor, ...filters } = getPageParameters(request);
  return JSON.stringify([
    operation,
    getIdentity(request as FastifyRequest).organizationId,
    Object.entries(filters).sort(),
  ]);
}

/**
 * The checksum detects damaged cursors and cursors of other lists. It needs no secret: a forged cursor selects another
 * page of a list that the caller may read anyway.
 */
function formatCursor(position: Position, list: string): string {
  const text = JSON.stringify(position);
  return createChecksum(text, list) + Buffer.from(text).toString('base64url');
}

function parseCursor(cursor: string, list: string, shape: readonly Kind[]): Position | undefined {
  const text = Buffer.from(cursor.slice(CHECKSUM_CHARACTERS), 'base64url').toString();
  // Compares the whole text: decoding ignores characters outside the alphabet.
  if (createChecksum(text, list) + Buffer.from(text).toString('base64url') !== cursor) return undefined;
  const position = parseJson(text);
  const isPosition =
    Array.isArray(position) &&
    position.length === shape.length &&
    shape.every((kind, index) =>
      kind === 'integer'
        ? Number.isSafeInteger(position[index])
        : typeof position[index] === 'string' && isStorable(position[index]),
    );
  return isPosition ? position : undefined;
}

const createChecksum = (text: string, list: string): string =>
  hash('sha256', `${list}\n${text}`, 'base64url').slice(0, CHECKSUM_CHARACTERS);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
