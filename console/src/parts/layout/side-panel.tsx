import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { PartBoundary } from './part-boundary.tsx';
import classes from './side-panel.module.css';

interface Props {
  /** "Schema"; the button of an open panel is "Hide schema". */
  name: string;
  isOpen: boolean;
  onToggle: () => void;
  /** Next to the button, while the panel is open. */
  action?: ReactNode;
  children: ReactNode;
}

/** A panel beside the content of a page that can be hidden. */
export function SidePanel({ name, isOpen, onToggle, action, children }: Props) {
  return (
    <section className={classes.panel} aria-label={name} data-open={isOpen}>
      <div className={classes.head}>
        <Button size="compact-sm" variant="subtle" color="gray" aria-expanded={isOpen} onClick={onToggle}>
          {isOpen ? `Hide ${name.toLowerCase()}` : name}
        </Button>
        {isOpen && action}
      </div>
      {isOpen && <PartBoundary>{children}</PartBoundary>}
    </section>
  );
}
