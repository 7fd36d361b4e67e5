import { Skeleton, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ApiError } from '../../../api/errors.ts';
import type { InstanceCreatePreviewBody } from '../../../api/generated.ts';
import { newServicePreviewQuery } from '../../../api/service-settings.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { formatCredits } from '../../../parts/format/format.ts';
import classes from '../scaling/scaling-summary.module.css';

const DEBOUNCE_MS = 250;

/** The monthly compute cost of a new service, computed by the server. */
export function NewServiceCost({ body, isValid }: { body: InstanceCreatePreviewBody; isValid: boolean }) {
  const api = useApi();
  const { organizationId } = useSession();
  const [debounced] = useDebouncedValue(JSON.stringify(body), DEBOUNCE_MS);
  const { data, error } = useQuery({
    ...newServicePreviewQuery(api, organizationId, JSON.parse(debounced)),
    enabled: isValid,
    placeholderData: keepPreviousData,
  });
  const isRejected = error instanceof ApiError && error.fields.length > 0;
  return (
    <div className={classes.price} aria-live="polite">
      <div className={classes.range}>
        <span className={classes.costTitle}>Monthly compute cost</span>
        {!isValid || isRejected ? (
          <Text size="sm" c="dimmed">
            These settings are not valid, so they have no price.
          </Text>
        ) : error ? (
          <Text size="sm" c="dimmed">
            The estimate is not available.
          </Text>
        ) : data ? (
          <span className={`ph-number ${classes.estimate}`} data-testid="new-service-cost">
            {formatRange(data.monthlyCost)} CHC
          </span>
        ) : (
          <Skeleton height={20} width={160} />
        )}
      </div>
      {data && isValid && !error && (
        <Text size="xs" c="dimmed">
          From {data.idleScaling ? 'always idle' : 'always at minimum'} to always at maximum size, with all replicas
          that the driver runs.
        </Text>
      )}
    </div>
  );
}

const formatRange = ({ min, max }: { min: number; max: number }): string =>
  min === max ? formatCredits(min) : `${formatCredits(min)} – ${formatCredits(max)}`;
