import type { ReactNode } from 'react';

interface Props {
  className: string | undefined;
  /** Accessible name; optional if the surrounding element has one. */
  label?: string;
  children: ReactNode;
}

/** A scrollable area. It takes the focus so that it can be scrolled by keyboard. */
export function ScrollRegion({ className, label, children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section className={className} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
