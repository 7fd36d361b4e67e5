import { queryOptions } from '@tanstack/react-query';
import type { Operations } from '../../api/generated.ts';
import { OWN_MARK } from './schema.ts';

const HISTORY_SIZE = 200;

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
