import { Button, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { ApiError } from '../../api/errors.ts';
import { serviceQuery } from '../../api/queries.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { ServiceBadges } from '../../parts/services/service-facts.tsx';
import { getPollMs } from '../../parts/services/service-status.ts';
import { NewServicePassword } from './creation/new-service-password.tsx';
import { ServiceActions } from './service-actions.tsx';
import { ServiceProvider } from './service-context.tsx';
import { ServiceNotes, ServiceSubtitle } from './service-status.tsx';
import { ServiceTabs } from './service-tabs.tsx';

const route = getRouteApi('/signed-in/services/$id');

/** The header and the tabs of a service; the selected tab is a separate route. */
export function ServicePage() {
  const { id } = route.useParams();
  const api = useApi();
  const { organizationId } = useSession();
  const {
    data: service,
    error,
    refetch,
  } = useQuery({
    ...serviceQuery(api, organizationId, id),
    refetchInterval: ({ state }) => getPollMs(state.data ? [state.data] : []),
  });

  if (service)
    return (
      <Page
        title={service.name}
        badges={<ServiceBadges service={service} />}
        subtitle={<ServiceSubtitle service={service} />}
        actions={<ServiceActions service={service} />}
      >
        <ServiceTabs id={service.id} />
        <ServiceNotes service={service} />
        <ServiceProvider key={service.id} service={service}>
          <Outlet />
        </ServiceProvider>
        <NewServicePassword key={`password ${service.id}`} service={service} />
      </Page>
    );
  if (error instanceof ApiError && (error.status === 404 || error.status === 400))
    return (
      <Page title="Service not found">
        <EmptyState
          title="This service does not exist"
          action={<Button renderRoot={(props) => <Link to="/services" {...props} />}>Go to services</Button>}
        >
          It may have been deleted or belong to another organization.
        </EmptyState>
      </Page>
    );
  return (
    <Page title="Service">
      {error ? (
        <ErrorNotice error={error} title="Could not load the service" retry={() => refetch()} />
      ) : (
        <Panel>
          <Stack gap="xl" mih={420} aria-hidden="true">
            <Skeleton height={60} />
            <Skeleton height={60} />
            <Skeleton height={60} />
          </Stack>
        </Panel>
      )}
    </Page>
  );
}
