import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useSession } from '../../../app/context.tsx';
import type { TimeWindow } from '../queries.ts';
import type { DashboardSearch } from '../search.ts';
import { REFRESH_MS, resolveRange, resolveZone } from './range.ts';

interface RefreshedWindow {
  window: TimeWindow;
  reload: () => void;
}

export const useTimeWindow = (search: DashboardSearch): RefreshedWindow =>
  useScopedTimeWindow(search, useSession().organizationId);

/**
 * The current time window and a function to refresh it. With `refresh`, it refreshes automatically while the page is
 * visible and no query is running. Queries for data have keys that start with the scope and `tile-data`.
 */
export function useScopedTimeWindow(search: DashboardSearch, scope: string): RefreshedWindow {
  const queries = useQueryClient();
  const [now, setNow] = useState(() => Date.now());
  const { from, to, last, utc, refresh } = search;

  // An absolute range does not move, so its data is invalidated instead.
  const reload = useCallback(() => {
    setNow(Date.now());
    if (from !== undefined) void queries.invalidateQueries({ queryKey: [scope, 'tile-data'] });
  }, [from, scope, queries]);
  useEffect(() => {
    if (!refresh) return undefined;
    const timer = setInterval(() => {
      const isBusy = queries.isFetching({ queryKey: [scope, 'tile-data'] }) > 0;
      if (document.visibilityState === 'visible' && !isBusy) reload();
    }, REFRESH_MS[refresh]);
    return () => clearInterval(timer);
  }, [refresh, reload, scope, queries]);

  const window = useMemo(() => {
    const requested: DashboardSearch = {
      ...(from !== undefined && to !== undefined ? { from, to } : {}),
      ...(last ? { last } : {}),
      ...(utc ? { utc } : {}),
    };
    return { ...resolveRange(requested, now), zone: resolveZone(requested) };
  }, [from, to, last, utc, now]);
  return { window, reload };
}
