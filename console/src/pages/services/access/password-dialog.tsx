import { Modal, Stack, Text } from '@mantine/core';
import type { Service } from '../../../api/types.ts';
import { SavedConfirmation } from '../../../parts/forms/saved-confirmation.tsx';
import { SecretValues } from '../../../parts/forms/secret-values.tsx';
import { Note } from '../../../parts/layout/note.tsx';
import { Connect } from './connect.tsx';

interface Props {
  title: string;
  service: Service;
  password: string;
  onSaved: () => void;
}

/** Shows a password once, with examples that contain it. Closes only by its button, so that it is not lost by accident. */
export function PasswordDialog({ title, service, password, onSaved }: Props) {
  return (
    <Modal
      opened
      onClose={onSaved}
      size="lg"
      title={title}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack gap="md">
        <Note tone="warn">
          <Text size="sm">
            Password for user <code>default</code>. It is shown only once; the server stores only a hash.
          </Text>
        </Note>
        <SecretValues
          values={[
            { label: 'User', value: 'default', copy: 'Copy user', testId: 'service-user' },
            { label: 'Password', value: password, copy: 'Copy password', testId: 'service-password' },
          ]}
        />
        <Connect service={service} password={password} />
        <SavedConfirmation onSaved={onSaved} />
      </Stack>
    </Modal>
  );
}
