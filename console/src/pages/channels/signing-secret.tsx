import { Modal, Stack, Text } from '@mantine/core';
import { SavedConfirmation } from '../../parts/forms/saved-confirmation.tsx';
import { SecretValues } from '../../parts/forms/secret-values.tsx';
import { Note } from '../../parts/layout/note.tsx';

/** A secret that the server generated. */
export const SigningSecret = ({ secret, onSaved }: { secret: string; onSaved: () => void }) => (
  <Stack gap="md">
    <Note tone="warn">
      <Text size="sm">
        This secret is shown only once. The receiver uses it to verify the signature of each request.
      </Text>
    </Note>
    <SecretValues values={[{ label: 'Secret', value: secret, copy: 'Copy secret', testId: 'signing-secret' }]} />
    <SavedConfirmation onSaved={onSaved} />
  </Stack>
);

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
