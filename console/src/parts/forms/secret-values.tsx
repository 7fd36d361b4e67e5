import { Fragment } from 'react';
import { CopyIconButton } from './copy-button.tsx';
import classes from './secret-values.module.css';

interface SecretValue {
  label: string;
  value: string;
  /** Accessible name of the button: "Copy secret". */
  copy: string;
  testId: string;
}

/** Names and values that are shown once, each with a button to copy it. */
export const SecretValues = ({ values }: { values: readonly SecretValue[] }) => (
  <dl className={classes.values}>
    {values.map(({ label, value, copy, testId }) => (
      <Fragment key={label}>
        <dt>{label}</dt>
        <dd>
          <span className={classes.value} data-testid={testId}>
            {value}
          </span>
          <CopyIconButton value={value} label={copy} />
        </dd>
      </Fragment>
    ))}
  </dl>
);
