import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ConfirmDialog } from './confirm-dialog.tsx';

interface Props {
  isDirty: boolean;
  /** Whether an address of the same page leaves the changes behind all the same; left out, none does. */
  isLeavingEditor?: (search: Record<string, unknown>) => boolean;
  children: ReactNode;
}

/** Asks before a page with unsaved changes is left, also when the tab is closed. */
export function UnsavedGuard({ isDirty, isLeavingEditor: isLeft = () => false, children }: Props) {
  const { status, proceed, reset } = useBlocker({
    // Another tab of the same page, or the sign-in over it, is no leaving.
    shouldBlockFn: ({ current, next }) =>
      isDirty && (current.pathname !== next.pathname || isLeft(next.search as Record<string, unknown>)),
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      opened={status === 'blocked'}
      title="Leave without saving?"
      action="Leave"
      isDangerous
      onConfirm={async () => proceed?.()}
      onClose={() => reset?.()}
    >
      {children}
    </ConfirmDialog>
  );
}
