import { SegmentedControl, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { autoscalingQuery } from '../../../api/queries.ts';
import type { Autoscaling, Service } from '../../../api/types.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { Timestamp } from '../../../parts/format/timestamp.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import { notifyError, notifySuccess } from '../../../parts/messages/notifications.ts';
import { AutoscalingHistory } from './autoscaling-history.tsx';
import { formatDecision } from './decision-text.ts';

type Mode = Autoscaling['mode'];

const MODES: { value: Mode; label: string }[] = [
  { value: 'off', label: 'Off' },
  { value: 'recommend', label: 'Recommend' },
  { value: 'apply', label: 'Apply' },
];

const EXPLANATIONS: Record<Mode, string> = {
  off: 'The autoscaler makes no decisions for this service.',
  recommend: 'Recommendations only; nothing is resized.',
  apply: 'The service is resized within its scaling limits, one step at a time.',
};

/** The mode of the autoscaler, its current recommendation and what it was based on. */
export function AutoscalingPanel({ service }: { service: Service }) {
  const api = useApi();
  const { organizationId, can } = useSession();
  const queries = useQueryClient();
  const query = autoscalingQuery(api, organizationId, service.id);
  const { data, error, refetch } = useQuery(query);
  const change = useMutation({
    mutationFn: (mode: Mode) =>
      api.instanceAutoscalingUpdate({ organizationId, serviceId: service.id, body: { mode } }),
    onSuccess: async (saved) => {
      queries.setQueryData(query.queryKey, saved);
      notifySuccess(`Autoscaling of ${service.name}: ${saved.mode}`);
      await queries.invalidateQueries({ queryKey: [organizationId, 'activities'] });
    },
    onError: (failed) => notifyError('Could not change the mode of the autoscaler', failed),
  });
  if (error && !data)
    return (
      <Panel title="Autoscaling">
        <ErrorNotice error={error} title="Could not load autoscaling" retry={() => refetch()} />
      </Panel>
    );
  return (
    <Panel
      title="Autoscaling"
      aside={
        data && (
          <SegmentedControl
            size="xs"
            aria-label="Mode of the autoscaler"
            data={MODES}
            value={change.isPending ? change.variables : data.mode}
            disabled={!can('instanceAutoscalingUpdate') || change.isPending}
            onChange={(mode) => change.mutate(mode as Mode)}
          />
        )
      }
    >
      {data ? (
        <Stack gap="md">
          <Text size="sm" c="dimmed">
            {EXPLANATIONS[data.mode]}
          </Text>
          {service.driver === 'simulated' ? (
            <Text size="sm">A simulated service has no load, so there is nothing to decide.</Text>
          ) : (
            <>
              {data.recommendation && <Recommendation recommendation={data.recommendation} />}
              <AutoscalingHistory service={service} />
            </>
          )}
        </Stack>
      ) : (
        <Skeleton height={40} />
      )}
    </Panel>
  );
}

function Recommendation({ recommendation }: { recommendation: NonNullable<Autoscaling['recommendation']> }) {
  return (
    <div data-testid="recommendation">
      <Text size="sm" fw={600}>
        {formatDecision(recommendation)}
      </Text>
      <Text size="sm">{recommendation.reason}</Text>
      <Text size="xs" c="dimmed">
        Decided <Timestamp at={recommendation.at} show="ago" />
      </Text>
    </div>
  );
}
