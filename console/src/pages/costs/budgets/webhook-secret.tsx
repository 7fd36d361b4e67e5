import { Group, Stack, Text } from '@mantine/core';
import { CopyTextButton } from '../../../parts/forms/copy-button.tsx';
import { SavedConfirmation } from '../../../parts/forms/saved-confirmation.tsx';
import { Note } from '../../../parts/layout/note.tsx';
import classes from '../costs.module.css';

/** Shows the secret once and closes only after the user confirms that it is saved. */
export function WebhookSecret({ secret, onSaved }: { secret: string; onSaved: () => void }) {
  return (
    <Stack gap="md">
      <Note tone="warn">
        <Text size="sm">
          This secret is shown only once. The receiver uses it to verify the signature of each request.
        </Text>
      </Note>
      <code className={classes.secret} data-testid="webhook-secret">
        {secret}
      </code>
      <Group>
        <CopyTextButton value={secret}>Copy secret</CopyTextButton>
      </Group>
      <SavedConfirmation onSaved={onSaved} />
    </Stack>
  );
}
