import { Anchor, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { recentActivityQuery } from '../../api/queries.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { useResourceNames } from '../../app/resource-names.ts';
import { ActivityList } from '../../parts/activity/activity-list.tsx';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';

export const RECENT_LIMIT = 6;
const LINES = Array.from({ length: RECENT_LIMIT }, (_, index) => `line-${index}`);

export function RecentActivity() {
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, refetch } = useQuery(recentActivityQuery(api, organizationId, RECENT_LIMIT));
  const names = useResourceNames(data);
  return (
    <Panel
      title="Recent activity"
      aside={
        <Anchor size="sm" renderRoot={(props) => <Link to="/activity" {...props} />}>
          All activity
        </Anchor>
      }
      flush
    >
      {data ? (
        data.length === 0 ? (
          <EmptyState title="No activity yet">Changes to services, keys and dashboards appear here.</EmptyState>
        ) : (
          <ActivityList activities={data} names={names} />
        )
      ) : error ? (
        <ErrorNotice error={error} title="Could not load activity" retry={() => refetch()} />
      ) : (
        <Stack gap={22} p="md" aria-hidden="true">
          {LINES.map((line) => (
            <Skeleton key={line} height={14} />
          ))}
        </Stack>
      )}
    </Panel>
  );
}
