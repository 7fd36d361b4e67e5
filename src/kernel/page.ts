/** Records per page: the default and the maximum. */
export const MAX_PAGE_SIZE = 1000;

/** The values of the columns that a list is ordered by. The last one is an id, so no two records share a position. */
export type Position = readonly (string | number)[];

export interface PageRequest {
  limit: number;
  /** The position of the last record of the previous page; undefined for the first page. */
  after: Position | undefined;
}

export interface Page<T> {
  items: T[];
  /** The position of the last item; undefined if there are no more. */
  next: Position | undefined;
}

/** The orders of a list, as the parameter `sort` names them. */
export const SORTS = ['createdAt', '-createdAt', 'name', '-name'] as const;
export type Sort = (typeof SORTS)[number];

/** The name by which records are sorted and searched, regardless of case. */
export const toSortName = (name: string): string => name.toLowerCase();
