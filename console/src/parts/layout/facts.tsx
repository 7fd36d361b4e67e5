import type { ReactNode } from 'react';
import { CopyIconButton } from '../forms/copy-button.tsx';
import classes from './facts.module.css';

/** A list of names and values. */
export const Facts = ({ children }: { children: ReactNode }) => <dl className={classes.facts}>{children}</dl>;

/** Renders nothing without a value. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  if (children === undefined || children === '') return null;
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  );
}

export function Copyable({ value, label }: { value: string; label: string }) {
  return (
    <span className={classes.copyable}>
      {value}
      <CopyIconButton value={value} label={label} />
    </span>
  );
}
