import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { useSession } from '../../app/context.tsx';
import type { Window } from './queries.ts';
import { REFRESH_MS, rangeOf, zoneOf } from './range.ts';
import type { DashboardSearch } from './search.ts';

/** What is looked at, and a way to look again. With `refresh` it looks by itself while the page can be seen, unless the last answers are still on their way. */
export function useWindow(search: DashboardSearch): { window: Window; reload: () => void } {
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const [now, setNow] = useState(() => Date.now());
  const { from, to, last, utc, refresh } = search;

  // An absolute range stays what it is; its data is asked for again all the same.
  const reload = () => {
    setNow(Date.now());
    if (from !== undefined) void queries.invalidateQueries({ queryKey: [organizationId, 'tile-data'] });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: reload is made anew with every render
  useEffect(() => {
    if (!refresh) return undefined;
    const timer = setInterval(() => {
      const isBusy = queries.isFetching({ queryKey: [organizationId, 'tile-data'] }) > 0;
      if (document.visibilityState === 'visible' && !isBusy) reload();
    }, REFRESH_MS[refresh]);
    return () => clearInterval(timer);
  }, [refresh, from, organizationId]);

  const window = useMemo(() => {
    const asked: DashboardSearch = {
      ...(from !== undefined && to !== undefined ? { from, to } : {}),
      ...(last ? { last } : {}),
      ...(utc ? { utc } : {}),
    };
    return { ...rangeOf(asked, now), zone: zoneOf(asked) };
  }, [from, to, last, utc, now]);
  return { window, reload };
}
