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
import { SCALING_FIELDS, type ScalingDraft, toScalingDraft } from './scaling-rules.ts';
import classes from './scaling-summary.module.css';

const DEBOUNCE_MS = 250;

/** What saving would do: field by field, and what a month would then cost. */
export function ScalingSummary(props: {
  service: Service;
  draft: ScalingDraft;
  change: ScalingChange;
  isValid: boolean;
}) {
  const { service, draft, change, isValid } = props;
  const now = toScalingDraft(service);
  const changed = SCALING_FIELDS.filter((field) => change[field] !== undefined);
  return (
    <Panel title="What will change">
      <div aria-live="polite">
        {changed.length === 0 ? (
          <Text size="sm" c="dimmed">
            Nothing yet. Move a slider or type a number.
          </Text>
        ) : (
          <dl className={classes.changes}>
            {changed.map((field) => (
              <div key={field} className={classes.change}>
                <dt>{fieldLabel(field)}</dt>
                <dd>
                  <del>{formatScalingValue(now[field])}</del>
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
  typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);

function MonthlyCost(props: { service: Service; change: ScalingChange; isValid: boolean; isIdling: boolean }) {
  const { service, change, isValid, isIdling } = props;
  const api = useApi();
  const { organizationId } = useSession();
  const [settled] = useDebouncedValue(JSON.stringify(change), DEBOUNCE_MS);
  const query = scalingPreviewQuery(api, organizationId, service, JSON.parse(settled));
  const { data, error } = useQuery({ ...query, enabled: isValid, placeholderData: keepPreviousData });
  const isOpen = Object.keys(change).length > 0;
  return (
    <div className={classes.cost} aria-live="polite">
      <h3 className={classes.costTitle}>Compute in a month</h3>
      {error ? (
        <Text size="sm" c="dimmed">
          {error instanceof ApiError && error.fields.length > 0
            ? 'The server would refuse this.'
            : 'What it would cost is not known just now.'}
        </Text>
      ) : data ? (
        <>
          <Range label="Now" {...data.before} />
          {isOpen && <Range label="After" {...data.after} isNew />}
          <Text size="xs" c="dimmed" mt={6}>
            {isIdling
              ? 'CHC: nothing while it idles, at most all month at the largest size.'
              : 'CHC: all month at the smallest, or at the largest size.'}
          </Text>
        </>
      ) : (
        <Skeleton height={20} />
      )}
    </div>
  );
}

function Range({ label, min, max, isNew = false }: { label: string; min: number; max: number; isNew?: boolean }) {
  return (
    <p className={classes.range} data-new={isNew}>
      <span>{label}</span>
      <span className="ph-number">
        {min === max ? formatCredits(min) : `${formatCredits(min)} – ${formatCredits(max)}`}
      </span>
    </p>
  );
}
