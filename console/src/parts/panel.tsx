import { Group, Paper, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './panel.module.css';

interface Props {
  title?: string;
  /** At the right of the title. */
  aside?: ReactNode;
  /** For a table, which goes to the edges. */
  flush?: boolean;
  children: ReactNode;
}

/** A framed part of a page, named by its title. */
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
      <div className={flush ? undefined : title ? classes.bodyBelowHead : classes.body}>{children}</div>
    </Paper>
  );
}
