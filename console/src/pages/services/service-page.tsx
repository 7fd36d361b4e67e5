import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ApiError } from '../../api/errors.ts';
import { serviceQuery } from '../../api/queries.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ServiceBadges, ServiceState } from '../../parts/service-facts.tsx';
import { ScalingEditor } from './scaling-editor.tsx';
import { ServiceActions, SimulatedNote } from './service-actions.tsx';
import { ServiceDetails } from './service-details.tsx';
import { ServiceHistory } from './service-history.tsx';

const TRANSITION_POLL_MS = 1000;
const isInTransition = (state = ''): boolean => /^(provisioning|starting|stopping|awaking)$/.test(state);

const route = getRouteApi('/signed-in/services/$id');

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
    refetchInterval: ({ state }) => (isInTransition(state.data?.state) ? TRANSITION_POLL_MS : false),
  });

  if (service)
    return (
      <Page
        title={service.name}
        badges={<ServiceBadges service={service} />}
        subtitle={
          <Group gap="sm" component="span">
            <ServiceState state={service.state} />
            {service.driver === 'simulated' && <SimulatedNote />}
          </Group>
        }
        actions={<ServiceActions service={service} />}
      >
        <ScalingEditor key={service.id} service={service} />
        <ServiceHistory service={service} />
        <ServiceDetails service={service} />
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
        <Panel title="Scaling">
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
