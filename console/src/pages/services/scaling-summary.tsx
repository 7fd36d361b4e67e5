import { Skeleton, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ApiError } from '../../api/errors.ts';
import { scalingPreviewQuery } from '../../api/scaling-preview.ts';
import type { ScalingChange, Service } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { fieldLabel, fieldUnit } from '../../parts/activity-text.ts';
import { formatCredits } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { SCALING_FIELDS, type ScalingDraft, toScalingDraft } from './scaling-draft.ts';
import classes from './scaling-summary.module.css';

const DEBOUNCE_MS = 250;

/** The unsaved changes and the estimated monthly cost. */
export function ScalingSummary(props: {
  service: Service;
  draft: ScalingDraft;
  change: ScalingChange;
  isValid: boolean;
}) {
  const { service, draft, change, isValid } = props;
  const current = toScalingDraft(service);
  const changed = SCALING_FIELDS.filter((field) => change[field] !== undefined);
  return (
    <Panel title="Pending changes">
      <div aria-live="polite">
        {changed.length === 0 ? (
          <Text size="sm" c="dimmed">
            No changes yet.
          </Text>
        ) : (
          <dl className={classes.changes}>
            {changed.map((field) => (
              <div key={field} className={classes.change}>
                <dt>{fieldLabel(field)}</dt>
                <dd>
                  <del>{formatScalingValue(current[field])}</del>
                  <span aria-hidden="true"> → </span>
                  <ins>
                    {formatScalingValue(draft[field])}
                    {fieldUnit(field)}
                  </ins>
                </dd>
              </div>
            ))}
          </dl>
        )}
      </div>
      <MonthlyCost service={service} change={change} isValid={isValid} isIdling={draft.idleScaling} />
    </Panel>
  );
}

const formatScalingValue = (value: number | boolean | ''): string =>
  typeof value === 'boolean' ? (value ? 'On' : 'Off') : String(value);

function MonthlyCost(props: { service: Service; change: ScalingChange; isValid: boolean; isIdling: boolean }) {
  const { service, change, isValid, isIdling } = props;
  const api = useApi();
  const { organizationId } = useSession();
  const [debounced] = useDebouncedValue(JSON.stringify(change), DEBOUNCE_MS);
  const query = scalingPreviewQuery(api, organizationId, service, JSON.parse(debounced));
  const { data, error } = useQuery({ ...query, enabled: isValid, placeholderData: keepPreviousData });
  const hasChanges = Object.keys(change).length > 0;
  return (
    <div className={classes.cost} aria-live="polite">
      <h3 className={classes.costTitle}>Monthly compute cost</h3>
      {error ? (
        <Text size="sm" c="dimmed">
          {error instanceof ApiError && error.fields.length > 0
            ? 'These settings are not valid.'
            : 'The estimate is not available.'}
        </Text>
      ) : data ? (
        <>
          <CostRange label="Current" {...data.before} />
          {hasChanges && isValid && <CostRange label="New" {...data.after} isNew />}
          <Text size="xs" c="dimmed" mt={6}>
            {isIdling
              ? 'In CHC, from always idle to always at maximum size.'
              : 'In CHC, from always at minimum to always at maximum size.'}
          </Text>
        </>
      ) : (
        <Skeleton height={20} />
      )}
    </div>
  );
}

function CostRange({ label, min, max, isNew = false }: { label: string; min: number; max: number; isNew?: boolean }) {
  return (
    <p className={classes.range} data-new={isNew}>
      <span>{label}</span>
      <span className="ph-number">
        {min === max ? formatCredits(min) : `${formatCredits(min)} – ${formatCredits(max)}`}
      </span>
    </p>
  );
}
