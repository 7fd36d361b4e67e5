import { Anchor, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Service } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { useResourceNames } from '../../app/resource-names.ts';
import { ActivityList } from '../../parts/activity-list.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { Panel } from '../../parts/panel.tsx';

const HISTORY_LIMIT = 15;

export function ServiceHistory({ service }: { service: Service }) {
  const api = useApi();
  const { organizationId } = useSession();
  const names = useResourceNames();
  const { data, error, refetch } = useQuery({
    queryKey: [organizationId, 'activities', 'service', service.id],
    queryFn: ({ signal }) =>
      api.activityGetList({ organizationId, resource_id: service.id, limit: String(HISTORY_LIMIT) }, { signal }),
  });
  return (
    <Panel
      title="History"
      flush
      aside={
        <Anchor size="sm" renderRoot={(props) => <Link to="/activity" search={{ text: service.name }} {...props} />}>
          View in audit log
        </Anchor>
      }
    >
      {data ? (
        data.length === 0 ? (
          <EmptyState title="No changes yet">Changes to this service appear here.</EmptyState>
        ) : (
          <ActivityList activities={data} names={names} />
        )
      ) : error ? (
        <ErrorNotice error={error} title="Could not load the history" retry={() => refetch()} />
      ) : (
        <Skeleton height={14} m="md" w="auto" />
      )}
    </Panel>
  );
}
