import { keepPreviousData, useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type Alert, instanceGetListConstraints } from '../api/generated.ts';
import { keysQuery, rolesQuery } from '../api/queries.ts';
import type { Activity } from '../api/types.ts';
import { listCustomRoles } from '../parts/activity/activity-roles.ts';
import { findRecordedName } from '../parts/activity/activity-sentences.ts';
import { alertsQuery } from '../parts/alerts/alerts-query.ts';
import { channelsQuery } from '../parts/channels/channels.ts';
import { useApi, useSession } from './context.tsx';

/** More unknown names than this are shown as IDs, so that a page sends a limited number of requests. */
const MAX_LOOKUPS = 20;
const MAX_SERVICES = instanceGetListConstraints.id.maxItems;

type NamedResource = { id: string; name: string };

/** Names by ID, as far as they are loaded, of the resources in `activities`, including those that no longer exist. */
export function useResourceNames(activities: readonly Activity[] = []): ReadonlyMap<string, string> {
  const api = useApi();
  const { organizationId, canSeeDashboards, can } = useSession();
  const unnamed = activities.filter((activity) => findRecordedName(activity) === undefined);
  const needs = (type: string) => unnamed.some(({ resourceType }) => resourceType === type);
  const serviceIds = [
    ...new Set(unnamed.flatMap(({ resourceType, resourceId }) => (resourceType === 'service' ? [resourceId] : []))),
  ];
  const roleIds = activities.flatMap(listCustomRoles);
  const lists = useQueries({
    queries: [
      // In the order of appearance: more activities change the last part only.
      ...splitList(serviceIds, MAX_SERVICES).map((id) => ({
        queryKey: [organizationId, 'services', 'named', id],
        queryFn: ({ signal }: { signal: AbortSignal }) => api.instanceGetList({ organizationId, id }, { signal }),
        placeholderData: keepPreviousData,
        enabled: can('instanceGetList'),
      })),
      { ...keysQuery(api, organizationId), enabled: needs('key') && can('openapiKeyGetList') },
      {
        queryKey: [organizationId, 'tokens'],
        queryFn: ({ signal }: { signal: AbortSignal }) => api.dashboardTokenGetList({ organizationId }, { signal }),
        enabled: needs('token'),
      },
      {
        ...rolesQuery(api, organizationId),
        enabled: (needs('role') || roleIds.length > 0) && can('organizationRolesGetList'),
      },
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
      {
        ...alertsQuery(api, organizationId),
        refetchInterval: false as const,
        select: (alerts: readonly Alert[]) => alerts.flatMap(({ id, name }) => (name ? [{ id, name }] : [])),
        enabled: canSeeDashboards && needs('alert'),
      },
      { ...channelsQuery(api, organizationId), enabled: canSeeDashboards && needs('channel') },
    ],
    combine: (results) => ({
      resources: results.flatMap(({ data }): NamedResource[] => data ?? []),
      isLoading: results.some(({ isLoading, isPlaceholderData }) => isLoading || isPlaceholderData),
    }),
  });
  const known = useMemo(() => new Map(lists.resources.map(({ id, name }) => [id, name])), [lists.resources]);
  const deletedIds = lists.isLoading
    ? []
    : [...new Set([...unnamed.filter(hasName).map(({ resourceId }) => resourceId), ...roleIds])]
        .filter((id) => !known.has(id))
        .slice(0, MAX_LOOKUPS);
  const deleted = useQueries({
    queries: deletedIds.map((id) => ({
      queryKey: [organizationId, 'activities', 'last', id],
      // The last activity of a deleted resource is its deletion, which records all fields.
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        api.activityGetList({ organizationId, resource_id: id, limit: 1 }, { signal }),
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

const splitList = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, part) => list.slice(part * size, (part + 1) * size));
