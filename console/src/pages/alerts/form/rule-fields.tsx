import { NumberInput, Select } from '@mantine/core';
import { createAlertConstraints } from '../../../api/generated.ts';
import { hasTwoLimits, INTERVAL_LABELS, THRESHOLD_LABELS } from '../../../parts/alerts/alert-status.ts';
import classes from '../alerts.module.css';
import type { AlertDraft } from './alert-draft.ts';
import type { FieldsProps } from './watch-fields.tsx';

/** When the alert fires, and when it is resolved. */
export function RuleFields({ draft, errorAt, onChange }: FieldsProps) {
  const isRange = hasTwoLimits(draft.thresholdType);
  return (
    <div className={classes.fields}>
      <Select
        label="Window"
        description="The alert is evaluated after each window."
        data={createAlertConstraints.interval.values.map((value) => ({ value, label: INTERVAL_LABELS[value] }))}
        allowDeselect={false}
        value={draft.interval}
        error={errorAt('interval')}
        onChange={(interval) => onChange({ interval: interval as AlertDraft['interval'] })}
      />
      <Select
        label="Fires if the value is"
        description="The value of one window"
        data={createAlertConstraints.thresholdType.values.map((value) => ({ value, label: THRESHOLD_LABELS[value] }))}
        allowDeselect={false}
        value={draft.thresholdType}
        error={errorAt('thresholdType')}
        onChange={(type) => onChange({ thresholdType: type as AlertDraft['thresholdType'] })}
      />
      <NumberInput
        label={isRange ? 'Lower limit' : 'Threshold'}
        description={isRange ? 'Belongs to the range' : 'Drawn in the replay below'}
        hideControls
        value={draft.threshold}
        error={errorAt('threshold')}
        onChange={(threshold) => onChange({ threshold })}
      />
      {isRange && (
        <NumberInput
          label="Upper limit"
          description="Belongs to the range"
          hideControls
          value={draft.thresholdMax}
          error={errorAt('thresholdMax')}
          onChange={(thresholdMax) => onChange({ thresholdMax })}
        />
      )}
      <MinutesInput
        label="Pending (minutes)"
        description="How long before it fires"
        placeholder="0"
        value={draft.pendingMinutes}
        error={errorAt('pendingMinutes')}
        onChange={(pendingMinutes) => onChange({ pendingMinutes })}
      />
      <MinutesInput
        label="Windows in a row"
        description="How many windows before it fires"
        placeholder="1"
        value={draft.numConsecutiveWindows}
        error={errorAt('numConsecutiveWindows')}
        onChange={(numConsecutiveWindows) => onChange({ numConsecutiveWindows })}
      />
      <MinutesInput
        label="Keep firing (minutes)"
        description="How long it must be normal before it is resolved"
        placeholder="0"
        value={draft.keepFiringMinutes}
        error={errorAt('keepFiringMinutes')}
        onChange={(keepFiringMinutes) => onChange({ keepFiringMinutes })}
      />
    </div>
  );
}

interface MinutesProps {
  label: string;
  description: string;
  /** The default. */
  placeholder: string;
  value: number | string;
  error: string | undefined;
  onChange: (value: number | string) => void;
}

export const MinutesInput = (props: MinutesProps) => <NumberInput {...props} hideControls allowDecimal={false} />;
