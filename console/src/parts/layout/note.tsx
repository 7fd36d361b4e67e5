import type { ReactNode } from 'react';
import { WarningIcon } from './icons.tsx';
import classes from './note.module.css';

interface Props {
  /** Screen readers announce `bad` immediately. */
  tone: 'bad' | 'warn';
  title?: string;
  children: ReactNode;
}

/** An inline error or warning. */
export function Note({ tone, title, children }: Props) {
  return (
    <div className={classes.note} data-tone={tone} role={tone === 'bad' ? 'alert' : 'note'}>
      <span className={classes.icon}>
        <WarningIcon />
      </span>
      <div className={classes.text}>
        {title && <p className={classes.title}>{title}</p>}
        {children}
      </div>
    </div>
  );
}
