import { useCallback, useMemo, useState } from 'react';
import { DashboardView } from './dashboard-view.tsx';
import { FilterBar } from './filters/filter-bar.tsx';
import { listViewFilters } from './filters/view-filters.ts';
import type { Dashboard, TimeWindow } from './queries.ts';
import type { DashboardSearch } from './search.ts';

interface Props {
  dashboard: Dashboard;
  search: DashboardSearch;
  window: TimeWindow;
  openTile: string | undefined;
  onChange: (search: DashboardSearch) => void;
  onOpenTile: (id: string | undefined) => void;
  onZoom: (start: number, end: number) => void;
}

/** The tiles of a dashboard below the choices of its viewer. */
export function FilteredView({ search, onChange, ...shown }: Props) {
  const { dashboard, window } = shown;
  const { vars, where, lang } = search;
  const filters = useMemo(
    () =>
      listViewFilters(dashboard, {
        ...(vars && { vars }),
        ...(where !== undefined && { where }),
        ...(lang && { lang }),
      }),
    [dashboard, vars, where, lang],
  );
  // An error belongs to the filters that caused it.
  const [failed, setFailed] = useState<{ filters: typeof filters; reason: string }>();
  const onFilterError = useCallback((reason: string) => setFailed({ filters, reason }), [filters]);
  // A wall display has no room for choices that were not made.
  const hasBar = search.kiosk !== true || filters.length > 0 || search.compare === true;
  return (
    <>
      {hasBar && dashboard.tiles.length > 0 && (
        <FilterBar
          dashboard={dashboard}
          search={search}
          window={window}
          error={failed?.filters === filters ? failed.reason : undefined}
          onChange={onChange}
        />
      )}
      <DashboardView {...shown} filters={filters} isComparing={search.compare === true} onFilterError={onFilterError} />
    </>
  );
}
