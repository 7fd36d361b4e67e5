import { Button, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ApiError } from '../../api/errors.ts';
import { serviceQuery } from '../../api/queries.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ServiceBadges } from '../../parts/service-facts.tsx';
import { getPollMs } from '../../parts/service-status.ts';
import { AutoscalingPanel } from './autoscaling.tsx';
import { ScalingEditor } from './scaling-editor.tsx';
import { ServiceActions } from './service-actions.tsx';
import { ServiceDetails } from './service-details.tsx';
import { ServiceEndpoint } from './service-endpoint.tsx';
import { ServiceHistory } from './service-history.tsx';
import { ServiceIdling } from './service-idling.tsx';
import { ServiceStatus, ServiceSubtitle } from './service-status.tsx';
import classes from './services.module.css';

const route = getRouteApi('/signed-in/services/$id');

export function ServicePage() {
  const { id } = route.useParams();
  const api = useApi();
  const { organizationId, can } = useSession();
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
        <div className={classes.panels}>
          {service.status && <ServiceStatus service={service} status={service.status} />}
          <ServiceEndpoint service={service} />
          {can('instanceIdleGet') && <ServiceIdling key={service.id} service={service} />}
        </div>
        <ScalingEditor key={service.id} service={service} />
        {can('instanceAutoscalingGet') && can('instanceAutoscalingHistoryGet') && (
          <AutoscalingPanel key={`autoscaling ${service.id}`} service={service} />
        )}
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
