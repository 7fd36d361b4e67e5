import type { ReactNode } from 'react';

interface Props {
  className: string | undefined;
  /** What a screen reader calls it; left out where the surroundings say it. */
  label?: string;
  children: ReactNode;
}

/** Something that may be larger than its place. A region that scrolls must be reachable by keyboard. */
export function ScrollRegion({ className, label, children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section className={className} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
