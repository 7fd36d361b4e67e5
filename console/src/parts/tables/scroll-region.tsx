import type { ComponentProps } from 'react';

/** A scrollable area. It takes the focus so that it can be scrolled by keyboard. Its name is optional if the surrounding element has one. */
export function ScrollRegion(props: ComponentProps<'section'>) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
  return <section tabIndex={0} {...props} />;
}
