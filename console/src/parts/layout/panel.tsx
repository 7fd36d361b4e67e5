import { Group, Paper, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './panel.module.css';
import { PartBoundary } from './part-boundary.tsx';

interface Props {
  title?: string;
  /** Right of the title. */
  aside?: ReactNode;
  /** No padding, for tables. */
  flush?: boolean;
  children: ReactNode;
}

/** A section of a page with a border; the title is its accessible name. */
export function Panel({ title, aside, flush = false, children }: Props) {
  return (
    <Paper component="section" className={classes.panel} aria-label={title}>
      {title && (
        <Group justify="space-between" className={classes.head} gap="xs">
          <Title order={2} size="h5">
            {title}
          </Title>
          {aside}
        </Group>
      )}
      <div className={flush ? undefined : title ? classes.bodyBelowHead : classes.body}>
        <PartBoundary>{children}</PartBoundary>
      </div>
    </Paper>
  );
}
