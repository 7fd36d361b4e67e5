import { Text } from '@mantine/core';
import type { ScalingChange, Service } from '../../../api/types.ts';
import { Panel } from '../../../parts/layout/panel.tsx';
import { MonthlyCost } from './monthly-cost.tsx';
import { ScalingChanges } from './scaling-changes.tsx';
import type { ScalingDraft } from './scaling-draft.ts';

/** The unsaved changes and the estimated monthly cost. */
export function ScalingSummary(props: {
  service: Service;
  draft: ScalingDraft;
  change: ScalingChange;
  isValid: boolean;
}) {
  const { service, draft, change, isValid } = props;
  return (
    <Panel title="Pending changes">
      <div aria-live="polite">
        {Object.keys(change).length === 0 ? (
          <Text size="sm" c="dimmed">
            No changes yet.
          </Text>
        ) : (
          <ScalingChanges service={service} change={change} />
        )}
      </div>
      <MonthlyCost service={service} change={change} isValid={isValid} isIdling={draft.idleScaling} />
    </Panel>
  );
}
