import { Button, Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatError } from '../../../api/errors.ts';
import classes from '../tiles/tiles.module.css';

interface Props {
  error: unknown;
  isFetching: boolean;
  onRetry: () => void;
  /** Undefined until there is data. */
  children: ReactNode;
}

/** The content of a tile, or its error. */
export function TileBody({ error, isFetching, onRetry, children }: Props) {
  if (error)
    return (
      <div className={classes.center} role="alert" data-testid="tile-error">
        <p className={classes.error}>{formatError(error)}</p>
        <Button size="compact-xs" variant="default" onClick={onRetry} loading={isFetching}>
          Try again
        </Button>
      </div>
    );
  if (children) return children;
  // Not animated: without a GPU, many pulsing skeletons cost more than the charts.
  return isFetching && <Skeleton height="100%" radius="sm" animate={false} data-testid="tile-loading" />;
}
