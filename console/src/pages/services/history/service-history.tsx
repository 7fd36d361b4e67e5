import { Anchor, Button, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Activity, ScalingChange, Service } from '../../../api/types.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { useResourceNames } from '../../../app/resource-names.ts';
import { ActivityList } from '../../../parts/activity/activity-list.tsx';
import { ConfirmDialog } from '../../../parts/forms/confirm-dialog.tsx';
import { EmptyState } from '../../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import { getPollMs } from '../../../parts/services/service-status.ts';
import { ScalingChanges } from '../scaling/scaling-changes.tsx';
import { toRevertChange } from '../scaling/scaling-draft.ts';
import { useRescale } from '../scaling/use-rescale.ts';

const HISTORY_LIMIT = 15;

/** The changes to the service. A scaling change can be reverted: the settings before it are sent as a new change. */
export function ServiceHistory({ service }: { service: Service }) {
  const api = useApi();
  const { organizationId, can } = useSession();
  const rescale = useRescale(service);
  const [reverting, setReverting] = useState<ScalingChange>();
  const { data, error, refetch } = useQuery({
    queryKey: [organizationId, 'activities', 'service', service.id],
    queryFn: ({ signal }) =>
      api.activityGetList({ organizationId, resource_id: service.id, limit: HISTORY_LIMIT }, { signal }),
    refetchInterval: getPollMs([service]),
  });
  const names = useResourceNames(data);
  const renderRevert = ({ before, after, createdAt }: Activity) => {
    const change = after === undefined ? {} : toRevertChange(service, before);
    return (
      Object.keys(change).length > 0 && (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`Revert the change of ${new Date(createdAt).toLocaleString()}`}
          onClick={() => setReverting(change)}
        >
          Revert
        </Button>
      )
    );
  };
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
          <ActivityList
            activities={data}
            names={names}
            {...(can('instanceReplicaScalingUpdate') ? { action: renderRevert } : {})}
          />
        )
      ) : error ? (
        <ErrorNotice error={error} title="Could not load the history" retry={() => refetch()} />
      ) : (
        <Skeleton height={14} m="md" w="auto" />
      )}
      {reverting && (
        <ConfirmDialog
          opened
          title="Revert this change?"
          action="Revert"
          onConfirm={() => rescale(reverting)}
          onClose={() => setReverting(undefined)}
        >
          <ScalingChanges service={service} change={reverting} />
          <Text mt="sm" c="dimmed" size="sm">
            The settings from before the change are saved as a new change. Other settings stay as they are.
          </Text>
        </ConfirmDialog>
      )}
    </Panel>
  );
}
