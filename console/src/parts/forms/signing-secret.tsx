import { Stack, Text } from '@mantine/core';
import { Note } from '../layout/note.tsx';
import { SavedConfirmation } from './saved-confirmation.tsx';
import { SecretValues } from './secret-values.tsx';

/** Shows a generated secret once; `onSaved` is called after the user confirms that it is saved. */
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
