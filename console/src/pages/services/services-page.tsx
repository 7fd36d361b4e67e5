import { Button, Skeleton } from '@mantine/core';
import { useInfiniteQuery, useQueries } from '@tanstack/react-query';
import { serviceListQuery } from '../../api/pages.ts';
import { serviceCostsQuery } from '../../api/queries.ts';
import type { CostRecord, Service } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { useDialogInUrl } from '../../app/use-dialog-in-url.ts';
import { useListView } from '../../app/use-list.ts';
import { sumCosts } from '../../parts/costs/costs.ts';
import { Credits } from '../../parts/costs/credits.tsx';
import { firstOfMonth, toDay } from '../../parts/format/days.ts';
import { plural } from '../../parts/format/format.ts';
import { useNow } from '../../parts/format/timestamp.tsx';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { PlusIcon } from '../../parts/layout/icons.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { formatIdleScaling, formatSize, ServiceName, ServiceStateCell } from '../../parts/services/service-facts.tsx';
import { getPollMs } from '../../parts/services/service-status.ts';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import { ListEnd } from '../../parts/tables/list-end.tsx';
import { ListSearch } from '../../parts/tables/list-search.tsx';
import { CreateServiceDialog } from './creation/create-service-dialog.tsx';
import classes from './services.module.css';

/** Minimum number of services to show the search field. */
const SEARCH_THRESHOLD = 8;

export function ServicesPage() {
  const api = useApi();
  const { organizationId, can } = useSession();
  const [isCreating, setIsCreating] = useDialogInUrl('create');
  const today = toDay(useNow());
  const { text, setText, order, view } = useListView();
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery({
    ...serviceListQuery(api, organizationId, view),
    refetchInterval: ({ state }) => getPollMs(state.data?.pages.flatMap(({ records }) => records) ?? []),
  });
  const rows = data?.pages.flatMap(({ records }) => records);
  // One request per page: the server limits the number of services per request.
  const costQueries = useQueries({
    queries: (data?.pages ?? []).map(({ records }) => {
      const ids = records.map(({ id }) => id);
      const query = serviceCostsQuery(api, organizationId, firstOfMonth(today), today, ids);
      return { ...query, enabled: ids.length > 0 };
    }),
  });
  const costs = new Map(
    (data?.pages ?? []).flatMap(({ records }, page) =>
      records.map(
        ({ id }) => [id, costQueries[page]?.data?.costs.filter(({ serviceId }) => serviceId === id)] as const,
      ),
    ),
  );
  const isSearching = text !== '' || view.search !== '';

  return (
    <Page
      title="Services"
      subtitle={rows ? formatCount(rows.length, hasNextPage, isSearching) : 'Loading…'}
      actions={
        can('instanceCreate') && (
          <Button leftSection={<PlusIcon size={16} />} onClick={() => setIsCreating(true)}>
            Create service
          </Button>
        )
      }
    >
      {isCreating && <CreateServiceDialog onClose={() => setIsCreating(false)} />}
      {error && !data ? (
        <ErrorNotice error={error} title="Could not load services" retry={() => refetch()} />
      ) : (
        <Panel flush>
          {rows && (isSearching || rows.length >= SEARCH_THRESHOLD) && (
            <ListSearch className={classes.filter} label="Search services" value={text} onChange={setText} />
          )}
          {rows?.length === 0 ? (
            <EmptyState title={isSearching ? 'No matching services' : 'No services yet'}>
              {!isSearching && (
                <>
                  Create one here, or declare it in the fleet file and run <code>pilothouse apply</code>.
                </>
              )}
            </EmptyState>
          ) : (
            <DataTable
              label="Services"
              columns={createColumns(costs)}
              rows={rows}
              rowKey={({ id }) => id}
              order={order}
            />
          )}
        </Panel>
      )}
      {rows && hasNextPage && (
        <ListEnd count={plural(rows.length, 'service')} isLoading={isFetchingNextPage} onMore={() => fetchNextPage()} />
      )}
    </Page>
  );
}

function formatCount(count: number, hasMore: boolean, isSearching: boolean): string {
  if (hasMore) return `More than ${plural(count, 'service')}`;
  return isSearching ? `${plural(count, 'service')} found` : plural(count, 'service');
}

/** Costs of each service this month; undefined while they load. */
const createColumns = (costs: ReadonlyMap<string, CostRecord[] | undefined>): Column<Service>[] => [
  {
    header: 'Name',
    sortField: 'name',
    cell: (service) => <ServiceName service={service} />,
  },
  { header: 'State', cell: (service) => <ServiceStateCell service={service} />, from: 'sm' },
  { header: 'Size', cell: (service) => <span className="ph-fixed">{formatSize(service)}</span> },
  { header: 'Idling', cell: (service) => <span className="ph-fixed">{formatIdleScaling(service)}</span>, from: 'md' },
  {
    header: 'Region',
    cell: ({ provider, region }) => (
      <span className="ph-fixed">{[provider, region].filter(Boolean).join(' · ') || '–'}</span>
    ),
    from: 'lg',
  },
  {
    header: 'This month',
    align: 'right',
    cell: ({ id }) => {
      const own = costs.get(id);
      return own ? <Credits chc={sumCosts(own)} /> : <Skeleton height={14} width={80} my={4} ml="auto" />;
    },
  },
];
