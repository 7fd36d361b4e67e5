import { Button, Group } from '@mantine/core';
import { useRef, useState } from 'react';
import { findFieldError, findOtherErrors } from '../../api/errors.ts';
import { useSession } from '../../app/context.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { PartBoundary } from '../../parts/layout/part-boundary.tsx';
import type { Source } from '../dashboards/where/suggestions.ts';
import { AddToDashboard } from './add-to-dashboard.tsx';
import { EmptyResult } from './empty-result.tsx';
import { ExportMenu } from './export-menu.tsx';
import { Facets } from './filters/facets.tsx';
import { FilterChips } from './filters/filter-chips.tsx';
import { Histogram } from './histogram.tsx';
import { LiveBar } from './live-bar.tsx';
import { QueryBar } from './query-bar.tsx';
import { RowPanel } from './rows/row-panel.tsx';
import { RowTable } from './rows/row-table.tsx';
import { TableBar } from './rows/table-bar.tsx';
import { useRowKeys } from './rows/use-row-keys.ts';
import { useRows } from './rows/use-rows.ts';
import { SavedSearches } from './saved/saved-searches.tsx';
import classes from './search.module.css';
import { ROW_IS_OPEN, useLiveTail } from './use-live-tail.ts';
import { useSearchState } from './use-search-state.ts';

/** The search of one source. */
export function SearchView({ source, sources }: { source: Source; sources: readonly Source[] }) {
  const { canChangeDashboards } = useSession();
  const state = useSearchState(source);
  const { search, matching, select, columns, window, change, reload } = state;
  const input = useRef<HTMLInputElement>(null);
  const [isAdding, setIsAdding] = useState(false);
  const [showsFields, setShowsFields] = useState(() => globalThis.matchMedia('(min-width: 62em)').matches);
  const loaded = useRows({ matching, range: window, select, columns });
  const live = useLiveTail({
    isOn: search.live === true,
    isRowOpen: search.row !== undefined,
    matching,
    select,
    columns,
    onOpen: reload,
  });
  const rows = live.combine(loaded.rows);
  // The values of the fields are read after the first rows: both at once would delay the rows.
  const [areRowsShown, setAreRowsShown] = useState(false);
  if (!areRowsShown && (rows.length > 0 || !loaded.isSearching)) setAreRowsShown(true);
  const openRow = (row: string | undefined) => {
    if (row !== undefined) live.pause(ROW_IS_OPEN);
    change({ row }, false);
  };
  const table = useRowKeys({ rows, openId: search.row, onOpen: openRow, input });
  const others = findOtherErrors(loaded.error, ['where']);
  return (
    <Page
      title="Search"
      actions={
        <>
          <SavedSearches state={state} />
          {canChangeDashboards && (
            <Button variant="default" size="sm" onClick={() => setIsAdding(true)}>
              Add to dashboard
            </Button>
          )}
          <ExportMenu state={state} />
        </>
      }
    >
      <div className={classes.query}>
        <QueryBar
          key={JSON.stringify([search.where, search.lang])}
          state={state}
          sources={sources}
          inputRef={input}
          error={findFieldError(loaded.error, 'where')}
        />
        <FilterChips state={state} />
        {others && (
          <Note tone="bad">
            <Group gap="sm">
              <span>{others}</span>
              <Button size="compact-sm" variant="default" onClick={loaded.retry}>
                Try again
              </Button>
            </Group>
          </Note>
        )}
      </div>
      <PartBoundary resetKey={state}>
        <Histogram state={state} isLive={search.live === true} />
      </PartBoundary>
      <div className={classes.columns}>
        {areRowsShown && <Facets state={state} isOpen={showsFields} onToggle={() => setShowsFields(!showsFields)} />}
        <section className={classes.results} aria-label="Rows">
          <TableBar state={state} loaded={loaded} isLive={search.live === true} />
          {search.live && <LiveBar live={live} onResume={table.goToTop} onStop={() => change({ live: undefined })} />}
          {rows.length === 0 && loaded.isComplete && !search.live ? (
            <EmptyResult state={state} />
          ) : (
            <PartBoundary resetKey={state}>
              <RowTable
                state={state}
                rows={rows}
                table={table}
                isLoading={rows.length === 0 && loaded.isSearching}
                onOpen={openRow}
                onEnd={loaded.loadMore}
                onScrolled={() => live.pause('the list was scrolled')}
              />
            </PartBoundary>
          )}
        </section>
      </div>
      {search.row !== undefined && (
        <PartBoundary key={search.row}>
          <RowPanel
            sources={sources}
            state={state}
            id={search.row}
            onOpen={openRow}
            onClose={() => openRow(undefined)}
          />
        </PartBoundary>
      )}
      {isAdding && <AddToDashboard state={state} onClose={() => setIsAdding(false)} />}
    </Page>
  );
}
