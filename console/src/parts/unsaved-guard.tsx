import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Confirm } from './confirm.tsx';

/** Asks before a page with unsaved changes is left, also when the tab is closed. */
export function UnsavedGuard({ isDirty, children }: { isDirty: boolean; children: ReactNode }) {
  const { status, proceed, reset } = useBlocker({
    // Another tab of the same page, or the sign-in over it, is no leaving.
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <Confirm
      opened={status === 'blocked'}
      title="Leave without saving?"
      action="Leave"
      isDangerous
      onConfirm={async () => proceed?.()}
      onClose={() => reset?.()}
    >
      {children}
    </Confirm>
  );
}
