import { Skeleton, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { ApiError } from '../../../api/errors.ts';
import type { InstanceReplicaScalingPreviewResult } from '../../../api/generated.ts';
import { scalingPreviewQuery } from '../../../api/scaling-preview.ts';
import type { ScalingChange, Service } from '../../../api/types.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { formatCredits, plural } from '../../../parts/format/format.ts';
import { formatSets } from '../../../parts/services/service-status.ts';
import classes from './scaling-summary.module.css';

const DEBOUNCE_MS = 250;

/** The cost of the current and of the edited settings, computed by the server. Invalid settings have no price. */
export function MonthlyCost(props: { service: Service; change: ScalingChange; isValid: boolean; isIdling: boolean }) {
  const { service, change, isValid, isIdling } = props;
  const api = useApi();
  const { organizationId } = useSession();
  const hasChanges = Object.keys(change).length > 0;
  const edited = JSON.stringify(change);
  const [debounced] = useDebouncedValue(edited, DEBOUNCE_MS);
  const current = useQuery(scalingPreviewQuery(api, organizationId, service, {}));
  const preview = useQuery({
    ...scalingPreviewQuery(api, organizationId, service, JSON.parse(debounced)),
    enabled: isValid && hasChanges && debounced === edited,
  });
  const isIdlingPossible = isIdling || service.idleScaling;
  return (
    <div className={classes.cost} aria-live="polite">
      <h3 className={classes.costTitle}>Monthly compute cost</h3>
      {current.error ? (
        <Text size="sm" c="dimmed">
          The estimate is not available.
        </Text>
      ) : current.data ? (
        <>
          <CostRow label="Current" {...current.data.monthlyCost.before} />
          {hasChanges &&
            (!isValid || isRejected(preview.error) ? (
              <Text size="sm" c="dimmed">
                These settings are not valid, so they have no price.
              </Text>
            ) : preview.error ? (
              <Text size="sm" c="dimmed">
                The estimate is not available.
              </Text>
            ) : preview.data && debounced === edited ? (
              <CostRow label="New" {...preview.data.monthlyCost.after} isNew />
            ) : (
              <Skeleton height={20} my={4} />
            ))}
          <Text size="xs" c="dimmed" mt={6}>
            {explain(current.data.usageDays, isIdlingPossible)}
          </Text>
        </>
      ) : (
        <Skeleton height={20} />
      )}
    </div>
  );
}

/** Rules that only the server checks. */
const isRejected = (error: unknown): boolean => error instanceof ApiError && error.fields.length > 0;

function explain(usageDays: number, isIdling: boolean): string {
  const range = `The range is from ${isIdling ? 'always idle' : 'always at minimum'} to always at maximum size.`;
  return usageDays === 0
    ? `CHC for the replicas that run. ${range} There is no usage yet to base an estimate on.`
    : `CHC for the replicas that run, at the usage of the last ${plural(usageDays, 'day')}. ${range}`;
}

type CostRange = InstanceReplicaScalingPreviewResult['monthlyCost']['before'];

function CostRow({
  label,
  min,
  max,
  estimate,
  replicas,
  shards,
  isNew = false,
}: CostRange & { label: string; isNew?: boolean }) {
  const range = min === max ? formatCredits(min) : `${formatCredits(min)} – ${formatCredits(max)}`;
  return (
    <div className={classes.range} data-new={isNew}>
      <span>
        <span>{label}</span>, {formatSets(replicas, shards)}
      </span>
      <span className={classes.amounts}>
        {estimate !== undefined && (
          <span className={`ph-number ${classes.estimate}`} data-testid={isNew ? 'new-estimate' : 'current-estimate'}>
            ≈ {formatCredits(estimate)}
          </span>
        )}
        <span className="ph-number">{range}</span>
      </span>
    </div>
  );
}
