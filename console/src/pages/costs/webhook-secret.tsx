import { Group, Stack, Text } from '@mantine/core';
import { CopyTextButton } from '../../parts/copy-button.tsx';
import { Note } from '../../parts/note.tsx';
import { SavedConfirmation } from '../../parts/saved-confirmation.tsx';
import classes from './costs.module.css';

/** The only time it is seen. It cannot be left before somebody says it is saved. */
export function WebhookSecret({ secret, onSaved }: { secret: string; onSaved: () => void }) {
  return (
    <Stack gap="md">
      <Note tone="warn">
        <Text size="sm">This is the only time the secret is shown. Whoever receives the webhook checks with it.</Text>
      </Note>
      <code className={classes.secret} data-testid="webhook-secret">
        {secret}
      </code>
      <Group>
        <CopyTextButton value={secret}>Copy the secret</CopyTextButton>
      </Group>
      <SavedConfirmation onSaved={onSaved} />
    </Stack>
  );
}
