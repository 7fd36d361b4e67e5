import type { ReactNode } from 'react';
import { WarningIcon } from './icons.tsx';
import classes from './note.module.css';

interface Props {
  /** `bad` is read out at once by a screen reader. */
  tone: 'bad' | 'warn';
  title?: string;
  children: ReactNode;
}

/** Something to know before going on. */
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
