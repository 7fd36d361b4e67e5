import type { ScalingChange, Service } from '../../../api/types.ts';
import { fieldLabel, fieldUnit } from '../../../parts/activity/activity-text.ts';
import { SCALING_FIELDS } from './scaling-draft.ts';
import classes from './scaling-summary.module.css';

/** The current and the new value of each changed setting. */
export function ScalingChanges({ service, change }: { service: Service; change: ScalingChange }) {
  return (
    <dl className={classes.changes}>
      {SCALING_FIELDS.filter((field) => change[field] !== undefined).map((field) => (
        <div key={field} className={classes.change}>
          <dt>{fieldLabel(field)}</dt>
          <dd>
            <del>{formatScalingValue(service[field])}</del>
            <span aria-hidden="true"> → </span>
            <ins>
              {formatScalingValue(change[field])}
              {fieldUnit(field)}
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

const formatScalingValue = (value: number | boolean | undefined): string =>
  typeof value === 'boolean' ? (value ? 'On' : 'Off') : String(value);
