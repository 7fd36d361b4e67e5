import { Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useLocation } from '@tanstack/react-router';
import { useMemo } from 'react';
import { createSend } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { createOperations, type Operations } from '../../api/generated.ts';
import { useDependencies } from '../../app/context.tsx';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { describeFilter, listViewFilters } from '../dashboards/filters/view-filters.ts';
import { TileGrid } from '../dashboards/grid/tile-grid.tsx';
import { RangeBar } from '../dashboards/time-window/range-bar.tsx';
import { useScopedTimeWindow } from '../dashboards/time-window/use-time-window.ts';
import classes from './linked-dashboard.module.css';
import { LinkedTile } from './linked-tile.tsx';
import { SHARED, sharedDashboardQuery } from './queries.ts';
import type { SharedSearch } from './search.ts';

const route = getRouteApi('/shared');
const LINK_HEADER = 'x-pilothouse-link';

/** One dashboard, read-only, for everyone who has its link. */
export function LinkedDashboardPage() {
  const { base, sessions } = useDependencies();
  const secret = useLocation().hash;
  const api = useMemo(() => {
    const send = createSend(base, sessions);
    return createOperations((method, path, request) =>
      send(method, path, { ...request, headers: { ...request.headers, [LINK_HEADER]: secret } }),
    );
  }, [base, sessions, secret]);
  return (
    <main className={classes.page}>
      {secret === '' ? <NoSuchLink /> : <SharedDashboard key={secret} api={api} secret={secret} />}
    </main>
  );
}

function SharedDashboard({ api, secret }: { api: Operations; secret: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { window, reload } = useScopedTimeWindow(search, SHARED);
  const { data, error, refetch } = useQuery(sharedDashboardQuery(api, secret));
  const update = (next: SharedSearch) => void navigate({ search: next, hash: secret, resetScroll: false });
  if (error instanceof ApiError && (error.status === 404 || error.status === 400)) return <NoSuchLink />;
  if (error)
    return (
      <Page title="Dashboard">
        <ErrorNotice error={error} title="Could not load the dashboard" retry={() => void refetch()} />
      </Page>
    );
  if (!data)
    return (
      <Page title="Dashboard">
        <Skeleton height={400} />
      </Page>
    );
  const { dashboard, expireAt } = data;
  const filters = listViewFilters(dashboard, {});
  const { last: _last, from: _from, to: _to, ...others } = search;
  return (
    <Page
      title={dashboard.name}
      subtitle={
        <>
          Read-only. The link expires <Timestamp at={expireAt} />.
          {filters.length > 0 && ` Filtered by ${filters.map(describeFilter).join(', ')}.`}
        </>
      }
      actions={<RangeBar search={search} window={window} onChange={update} onReload={reload} />}
    >
      {dashboard.tiles.length === 0 ? (
        <EmptyState title="No tiles yet">This dashboard is empty.</EmptyState>
      ) : (
        <TileGrid tiles={dashboard.tiles}>
          {(tile) => (
            <LinkedTile
              api={api}
              secret={secret}
              tile={tile}
              filters={filters}
              window={window}
              onZoom={(from, to) => update({ ...others, from, to })}
            />
          )}
        </TileGrid>
      )}
    </Page>
  );
}

const NoSuchLink = () => (
  <Page title="This link does not work">
    <Panel>
      <Text>
        It may have expired or been revoked, or its dashboard was deleted. Ask the person who sent it for another.
      </Text>
    </Panel>
  </Page>
);
