import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { keysQuery, rolesQuery, servicesQuery } from '../api/queries.ts';
import type { Activity } from '../api/types.ts';
import { findRecordedName } from '../parts/activity-sentences.ts';
import { useApi, useSession } from './context.tsx';

/** More unknown names than this are shown as IDs, so that a page sends a limited number of requests. */
const MAX_LOOKUPS = 20;

type NamedResource = { id: string; name: string };

/**
 * Names by ID, as far as they are loaded: of services and keys, of the other resources in `activities`, and of resources
 * in `activities` that no longer exist.
 */
export function useResourceNames(activities: readonly Activity[] = []): ReadonlyMap<string, string> {
  const api = useApi();
  const { organizationId, canSeeDashboards, can } = useSession();
  const unnamed = activities.filter((activity) => findRecordedName(activity) === undefined);
  const needs = (type: string) => unnamed.some(({ resourceType }) => resourceType === type);
  const lists = useQueries({
    queries: [
      { ...servicesQuery(api, organizationId), enabled: can('instanceGetList') },
      { ...keysQuery(api, organizationId), enabled: can('openapiKeyGetList') },
      {
        queryKey: [organizationId, 'tokens'],
        queryFn: ({ signal }: { signal: AbortSignal }) => api.dashboardTokenGetList({ organizationId }, { signal }),
        enabled: needs('token'),
      },
      { ...rolesQuery(api, organizationId), enabled: needs('role') },
      {
        queryKey: [organizationId, 'budgets'],
        queryFn: ({ signal }: { signal: AbortSignal }) => api.budgetGetList({ organizationId }, { signal }),
        enabled: needs('budget'),
      },
      {
        queryKey: [organizationId, 'dashboards'],
        queryFn: ({ signal }: { signal: AbortSignal }) => api.listDashboards({}, { signal }),
        enabled: canSeeDashboards && needs('dashboard'),
      },
      {
        queryKey: [organizationId, 'sources'],
        queryFn: ({ signal }: { signal: AbortSignal }) => api.listSources({}, { signal }),
        enabled: canSeeDashboards && needs('source'),
      },
    ],
    combine: (results) => ({
      resources: results.flatMap(({ data }): NamedResource[] => data ?? []),
      isLoading: results.some(({ isLoading }) => isLoading),
    }),
  });
  const known = useMemo(() => new Map(lists.resources.map(({ id, name }) => [id, name])), [lists.resources]);
  const deletedIds = lists.isLoading
    ? []
    : [...new Set(unnamed.filter(hasName).map(({ resourceId }) => resourceId))]
        .filter((id) => !known.has(id))
        .slice(0, MAX_LOOKUPS);
  const deleted = useQueries({
    queries: deletedIds.map((id) => ({
      queryKey: [organizationId, 'activities', 'last', id],
      // The last activity of a deleted resource is its deletion, which records all fields.
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        api.activityGetList({ organizationId, resource_id: id, limit: '1' }, { signal }),
      staleTime: Number.POSITIVE_INFINITY,
    })),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  });
  return useMemo(() => {
    const names = new Map(known);
    for (const activity of deleted) {
      const name = findRecordedName(activity);
      if (name !== undefined) names.set(activity.resourceId, name);
    }
    return names;
  }, [known, deleted]);
}

const hasName = ({ resourceType }: Activity): boolean =>
  ['service', 'key', 'role', 'token', 'budget', 'dashboard', 'source'].includes(resourceType);
