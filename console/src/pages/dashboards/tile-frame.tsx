import type { ReactNode, Ref } from 'react';
import classes from './dashboard.module.css';

interface Props {
  name: string;
  /** At the right of the name. */
  actions?: ReactNode;
  /** The name is what is taken hold of to move the tile. */
  isMovable?: boolean;
  isReloading?: boolean;
  ref?: Ref<HTMLElement>;
  children: ReactNode;
}

export function TileFrame({ name, actions, isMovable = false, isReloading = false, ref, children }: Props) {
  return (
    <article className={classes.tile} aria-label={name || 'Tile'} aria-busy={isReloading} ref={ref}>
      {(name !== '' || actions || isMovable) && (
        <header className={classes.tileHead} data-movable={isMovable}>
          <h2 className={classes.tileName} title={name}>
            {name || (isMovable ? 'Without a name' : '')}
          </h2>
          {actions && <div className={classes.tileActions}>{actions}</div>}
        </header>
      )}
      <div className={classes.tileBody} data-old={isReloading}>
        {children}
      </div>
    </article>
  );
}
