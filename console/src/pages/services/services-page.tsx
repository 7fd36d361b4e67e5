import { Anchor, Skeleton, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { servicesQuery, usageCostQuery } from '../../api/queries.ts';
import type { CostRecord, Service } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { sumCosts } from '../../parts/costs.ts';
import { Credits } from '../../parts/credits.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { firstOfMonth, toDay } from '../../parts/days.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { plural } from '../../parts/format.ts';
import { SearchIcon } from '../../parts/icons.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { formatIdleScaling, formatSize, ServiceBadges, ServiceState } from '../../parts/service-facts.tsx';
import { useNow } from '../../parts/timestamp.tsx';
import classes from './services.module.css';

/** Minimum number of services to show the search field. */
const SEARCH_THRESHOLD = 8;

export function ServicesPage() {
  const api = useApi();
  const { organizationId } = useSession();
  const today = toDay(useNow());
  const [text, setText] = useState('');
  const { data, error, refetch } = useQuery(servicesQuery(api, organizationId));
  const costs = useQuery(usageCostQuery(api, organizationId, firstOfMonth(today), today)).data?.costs;
  const rows = data?.filter(({ name, id }) => `${name} ${id}`.toLowerCase().includes(text.trim().toLowerCase()));

  return (
    <Page title="Services" subtitle={data ? plural(data.length, 'service') : 'Loading…'}>
      {error && !data ? (
        <ErrorNotice error={error} title="Could not load services" retry={() => refetch()} />
      ) : (
        <Panel flush>
          {data && data.length >= SEARCH_THRESHOLD && (
            <TextInput
              className={classes.filter}
              aria-label="Search services"
              placeholder="Search services"
              leftSection={<SearchIcon size={16} />}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
            />
          )}
          {rows?.length === 0 ? (
            <EmptyState title={data?.length === 0 ? 'No services yet' : 'No matching services'}>
              {data?.length === 0 && (
                <>
                  Services are declared in the fleet file. Add one and run <code>pilothouse apply</code>.
                </>
              )}
            </EmptyState>
          ) : (
            <DataTable label="Services" columns={createColumns(costs)} rows={rows} rowKey={({ id }) => id} />
          )}
        </Panel>
      )}
    </Page>
  );
}

const createColumns = (costs: CostRecord[] | undefined): Column<Service>[] => [
  {
    header: 'Name',
    cell: (service) => (
      <div className={classes.name}>
        <Anchor
          fw={600}
          size="sm"
          renderRoot={(props) => <Link to="/services/$id" params={{ id: service.id }} {...props} />}
        >
          {service.name}
        </Anchor>
        <ServiceBadges service={service} />
      </div>
    ),
  },
  { header: 'State', cell: ({ state }) => <ServiceState state={state} />, from: 'sm' },
  { header: 'Size', cell: (service) => <span className="ph-fixed">{formatSize(service)}</span> },
  { header: 'Idling', cell: (service) => <span className="ph-fixed">{formatIdleScaling(service)}</span>, from: 'md' },
  {
    header: 'Region',
    cell: ({ provider, region }) => [provider, region].filter(Boolean).join(' · ') || '–',
    from: 'lg',
  },
  {
    header: 'This month',
    align: 'right',
    cell: ({ id }) =>
      costs ? (
        <Credits chc={sumCosts(costs.filter(({ serviceId }) => serviceId === id))} />
      ) : (
        <Skeleton height={14} width={80} my={4} ml="auto" />
      ),
  },
];
