import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ConfirmDialog } from './confirm-dialog.tsx';

interface Props {
  isDirty: boolean;
  /** Whether navigation within the same page also discards the changes; by default it does not. */
  isLeavingEditor?: (search: Record<string, unknown>) => boolean;
  children: ReactNode;
}

/** Requires confirmation before navigation or closing the tab discards unsaved changes. */
export function UnsavedGuard({ isDirty, isLeavingEditor = () => false, children }: Props) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isDirty && (current.pathname !== next.pathname || isLeavingEditor(next.search as Record<string, unknown>)),
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
