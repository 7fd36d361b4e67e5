import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query';
import type { Operations } from './generated.ts';
import type { RequestOptions } from './send.ts';

export interface ListPage<T> {
  records: T[];
  /** The cursor of the next page. */
  next: string | undefined;
}

/** Reads a page of a list together with the cursor of the next one. */
export async function readPage<T>(
  read: (options: RequestOptions) => Promise<T[]>,
  signal: AbortSignal,
): Promise<ListPage<T>> {
  let next: string | undefined;
  const records = await read({
    signal,
    onResponse: (_, payload) => {
      next = (payload as { nextCursor?: string | null }).nextCursor ?? undefined;
    },
  });
  return { records, next };
}

const PAGE_SIZE = 50;

/** The order and search of a list, which the server applies. */
export interface ListView {
  search: string;
  sort: 'name' | '-name' | 'createdAt' | '-createdAt' | undefined;
}

interface PageInput {
  organizationId: string;
  limit: number;
  search?: string;
  sort?: 'name' | '-name' | 'createdAt' | '-createdAt';
  cursor?: string;
}

function createListQuery<T>(
  name: string,
  organizationId: string,
  { search, sort }: ListView,
  read: (input: PageInput, options: RequestOptions) => Promise<T[]>,
) {
  const input = { organizationId, limit: PAGE_SIZE, ...(search === '' ? {} : { search }), ...(sort ? { sort } : {}) };
  return infiniteQueryOptions({
    queryKey: [organizationId, name, 'list', search, sort],
    queryFn: ({ pageParam, signal }) =>
      readPage((options) => read({ ...input, ...(pageParam === '' ? {} : { cursor: pageParam }) }, options), signal),
    initialPageParam: '',
    getNextPageParam: ({ next }: ListPage<T>) => next,
    placeholderData: keepPreviousData,
  });
}

export const serviceListQuery = (api: Operations, organizationId: string, view: ListView) =>
  createListQuery('services', organizationId, view, api.instanceGetList);

export const keyListQuery = (api: Operations, organizationId: string, view: ListView) =>
  createListQuery('keys', organizationId, view, api.openapiKeyGetList);
