import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  title: string;
  size?: 'md' | 'lg' | 'xl';
  /** Something that is shown only once: then the dialog closes by its own button only. */
  hasSecret: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** A dialog that creates something and then shows its secret. */
export const SecretDialog = ({ title, size = 'lg', hasSecret, onClose, children }: Props) => (
  <Modal
    opened
    onClose={onClose}
    size={size}
    title={title}
    withCloseButton={!hasSecret}
    closeOnClickOutside={false}
    closeOnEscape={!hasSecret}
  >
    {children}
  </Modal>
);
