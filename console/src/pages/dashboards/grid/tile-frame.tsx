import type { ReactNode, Ref } from 'react';
import classes from '../dashboard.module.css';

interface Props {
  name: string;
  /** Right of the name. */
  actions?: ReactNode;
  /** The header is the drag handle. */
  isMovable?: boolean;
  isReloading?: boolean;
  /** What the viewer must know about the data. */
  notes?: readonly string[];
  ref?: Ref<HTMLElement>;
  children: ReactNode;
}

export function TileFrame({ name, actions, isMovable = false, isReloading = false, notes = [], ref, children }: Props) {
  return (
    <article className={classes.tile} aria-label={name || 'Untitled tile'} aria-busy={isReloading} ref={ref}>
      {(name !== '' || actions || isMovable) && (
        <header className={classes.tileHead} data-movable={isMovable}>
          <h2 className={classes.tileName} title={name}>
            {name || (isMovable ? 'Untitled tile' : '')}
          </h2>
          {actions && <div className={classes.tileActions}>{actions}</div>}
        </header>
      )}
      {notes.length > 0 && (
        <p className={classes.tileNote} role="note" title={notes.join('\n')}>
          {notes.join('; ')}
        </p>
      )}
      <div className={classes.tileBody} data-old={isReloading}>
        {children}
      </div>
    </article>
  );
}
