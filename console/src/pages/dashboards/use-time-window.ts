import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useSession } from '../../app/context.tsx';
import type { TimeWindow } from './queries.ts';
import { REFRESH_MS, resolveRange, resolveZone } from './range.ts';
import type { DashboardSearch } from './search.ts';

/** The current time window and a function to refresh it. With `refresh`, it refreshes automatically while the page is visible and no query is running. */
export function useTimeWindow(search: DashboardSearch): { window: TimeWindow; reload: () => void } {
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const [now, setNow] = useState(() => Date.now());
  const { from, to, last, utc, refresh } = search;

  // An absolute range does not move, so its data is invalidated instead.
  const reload = useCallback(() => {
    setNow(Date.now());
    if (from !== undefined) void queries.invalidateQueries({ queryKey: [organizationId, 'tile-data'] });
  }, [from, organizationId, queries]);
  useEffect(() => {
    if (!refresh) return undefined;
    const timer = setInterval(() => {
      const isBusy = queries.isFetching({ queryKey: [organizationId, 'tile-data'] }) > 0;
      if (document.visibilityState === 'visible' && !isBusy) reload();
    }, REFRESH_MS[refresh]);
    return () => clearInterval(timer);
  }, [refresh, reload, organizationId, queries]);

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
