import { queryOptions } from '@tanstack/react-query';
import type { Operations, SavedQueryGetResult, SavedQueryListResult } from '../../api/generated.ts';
import { type ListPage, readPage } from '../../api/pages.ts';
import { OWN_MARK } from './schema/schema.ts';

export type SavedQuery = SavedQueryGetResult;

const PAGE_SIZE = 100;
const HISTORY_SIZE = 200;

/** The name and database of every saved query of a service. */
export const savedQueriesQuery = (api: Operations, organizationId: string, serviceId: string) =>
  queryOptions({
    queryKey: [organizationId, 'sql', serviceId, 'saved'],
    async queryFn({ signal }) {
      const all: SavedQueryListResult = [];
      let cursor: string | undefined;
      do {
        const input = { organizationId, serviceId, limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) };
        const page: ListPage<SavedQueryListResult[number]> = await readPage(
          (options) => api.savedQueryList(input, options),
          signal,
        );
        all.push(...page.records);
        cursor = page.next;
      } while (cursor !== undefined);
      return all.sort((one, other) => one.name.localeCompare(other.name));
    },
  });

/** What this person has run, newest first, without what the page reads itself. */
export const historyQuery = (api: Operations, organizationId: string, serviceId: string) =>
  queryOptions({
    queryKey: [organizationId, 'sql', serviceId, 'history'],
    staleTime: 0,
    async queryFn({ signal }) {
      const list = await api.sqlHistoryGetList({ organizationId, serviceId, limit: HISTORY_SIZE }, { signal });
      return list.filter(({ sql }) => !sql.startsWith(OWN_MARK));
    },
  });
