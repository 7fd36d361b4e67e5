import { Modal } from '@mantine/core';
import { SigningSecret } from '../../parts/forms/signing-secret.tsx';

interface Props {
  name: string;
  secret: string;
  onClose: () => void;
}

/** Stays open until the secret is saved. */
export const SigningSecretDialog = ({ name, secret, onClose }: Props) => (
  <Modal
    opened
    onClose={onClose}
    size="lg"
    title={`Signing secret of ${name}`}
    withCloseButton={false}
    closeOnClickOutside={false}
    closeOnEscape={false}
  >
    <SigningSecret secret={secret} onSaved={onClose} />
  </Modal>
);
