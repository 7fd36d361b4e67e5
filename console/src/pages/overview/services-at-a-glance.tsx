import { Anchor, Skeleton, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { UsageCostSummaryGetResult } from '../../api/generated.ts';
import { costTotalsQuery, firstServicesQuery, serviceCostsQuery } from '../../api/queries.ts';
import type { CostRecord, Service } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { dailyTotals, sumCosts, sumCredits } from '../../parts/costs/costs.ts';
import { Credits } from '../../parts/costs/credits.tsx';
import { Sparkline } from '../../parts/costs/sparkline.tsx';
import { addDays, firstOfMonth, toDay } from '../../parts/format/days.ts';
import { useNow } from '../../parts/format/timestamp.tsx';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { formatIdleScaling, formatSize, ServiceName, ServiceStateCell } from '../../parts/services/service-facts.tsx';
import { getPollMs } from '../../parts/services/service-status.ts';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import classes from './services-at-a-glance.module.css';

const SPARKLINE_DAYS = 30;

export function ServicesAtAGlance() {
  const api = useApi();
  const { organizationId } = useSession();
  const today = toDay(useNow());
  const services = useQuery({
    ...firstServicesQuery(api, organizationId),
    refetchInterval: ({ state }) => getPollMs(state.data?.records ?? []),
  });
  const rows = services.data?.records;
  const hasMore = services.data?.next !== undefined;
  const ids = rows?.map(({ id }) => id) ?? [];
  const recent = useQuery({
    ...serviceCostsQuery(api, organizationId, firstShownDay(today), today, ids),
    enabled: ids.length > 0,
  }).data?.costs;
  const month = recent?.filter(({ date }) => date >= firstOfMonth(today));
  const totals = useQuery(costTotalsQuery(api, organizationId, firstOfMonth(today), today)).data;

  if (services.error && !services.data)
    return <ErrorNotice error={services.error} title="Could not load services" retry={() => services.refetch()} />;
  if (rows?.length === 0)
    return (
      <Panel title="Services">
        <EmptyState title="No services yet">
          Create one on the Services page, or declare it in the fleet file and run <code>pilothouse apply</code>.
        </EmptyState>
      </Panel>
    );
  return (
    <Panel
      title="Services"
      aside={
        <Anchor size="sm" renderRoot={(props) => <Link to="/services" {...props} />}>
          All services
        </Anchor>
      }
      flush
    >
      <DataTable
        label="Services"
        // Sorting a part of the services would be misleading.
        columns={createColumns(month, recent, today).map((column) => (hasMore ? withoutSorting(column) : column))}
        rows={rows}
        rowKey={({ id }) => id}
        footer={<TotalRows totals={totals} shown={hasMore ? month : undefined} />}
      />
    </Panel>
  );
}

const createColumns = (
  month: CostRecord[] | undefined,
  recent: CostRecord[] | undefined,
  today: string,
): Column<Service>[] => [
  {
    header: 'Name',
    sortBy: ({ name }) => name,
    cell: (service) => <ServiceName service={service} />,
  },
  {
    header: 'State',
    sortBy: ({ state }) => state,
    cell: (service) => <ServiceStateCell service={service} />,
    from: 'sm',
  },
  {
    header: 'Size',
    sortBy: ({ maxReplicaMemoryGb, numReplicas, shards = 1 }) => maxReplicaMemoryGb * numReplicas * shards,
    cell: (service) => <span className={classes.fact}>{formatSize(service)}</span>,
  },
  {
    header: 'Idling',
    cell: (service) => <span className={classes.fact}>{formatIdleScaling(service)}</span>,
    from: 'md',
  },
  {
    header: `Last ${SPARKLINE_DAYS} days`,
    cell: ({ id, name }) => {
      const values = dailyTotals(
        recent?.filter(({ serviceId }) => serviceId === id) ?? [],
        addDays(today, 1 - SPARKLINE_DAYS),
        today,
      );
      return <Sparkline values={values} label={`Daily cost of ${name}, last ${SPARKLINE_DAYS} days`} />;
    },
    from: 'lg',
    width: 160,
  },
  {
    header: 'This month',
    align: 'right',
    sortBy: ({ id }) => month && sumCosts(month.filter(({ serviceId }) => serviceId === id)),
    cell: ({ id }) =>
      month ? <Credits chc={sumCosts(month.filter(({ serviceId }) => serviceId === id))} /> : <AmountSkeleton />,
  },
];

/** Placeholder for an amount. */
const AmountSkeleton = () => <Skeleton height={14} width={80} my={4} ml="auto" />;

/** The month and the days of the sparkline: at most 31 days. */
const firstShownDay = (today: string): string =>
  [firstOfMonth(today), addDays(today, 1 - SPARKLINE_DAYS)].toSorted()[0] ?? today;

const withoutSorting = ({ sortBy: _, ...column }: Column<Service>): Column<Service> => column;

interface Totals {
  totals: UsageCostSummaryGetResult | undefined;
  /** The costs of the shown services, if there are others. */
  shown: CostRecord[] | undefined;
}

/** Costs of other services and of warehouses, and the total, which equals the month to date. */
function TotalRows({ totals, shown }: Totals) {
  const warehouses = totals && (totals.rows.find(({ entityType }) => entityType === 'datawarehouse')?.totalCHC ?? 0);
  const total = totals?.totals.totalCHC;
  const others =
    total === undefined || warehouses === undefined || !shown
      ? undefined
      : sumCredits([total, -warehouses, -sumCosts(shown)]);
  return (
    <>
      {shown && <SumRow label="Other services" chc={others} />}
      <SumRow label="Warehouses" chc={warehouses} />
      <SumRow label="Total" chc={total} isTotal />
    </>
  );
}

function SumRow(props: { label: string; chc: number | undefined; isTotal?: boolean }) {
  const { label, chc, isTotal = false } = props;
  return (
    <Table.Tr className={isTotal ? classes.total : classes.rest}>
      <Table.Th scope="row">{label}</Table.Th>
      <Table.Td visibleFrom="sm" />
      <Table.Td />
      <Table.Td visibleFrom="md" />
      <Table.Td visibleFrom="lg" />
      <Table.Td ta="right">{chc === undefined ? <AmountSkeleton /> : <Credits chc={chc} />}</Table.Td>
    </Table.Tr>
  );
}
