import { Stack, Text } from '@mantine/core';
import { CopyIconButton } from '../../parts/copy-button.tsx';
import { Note } from '../../parts/note.tsx';
import { SavedConfirmation } from '../../parts/saved-confirmation.tsx';
import classes from './services.module.css';

/** Shows the password of the user `default` once. */
export function ServicePassword({ password, onSaved }: { password: string; onSaved: () => void }) {
  return (
    <Stack gap="md">
      <Note tone="warn">
        <Text size="sm">This password of the user default is shown only once. The server stores only a hash.</Text>
      </Note>
      <span className={classes.copyable}>
        <span data-testid="service-password">{password}</span>
        <CopyIconButton value={password} label="Copy password" />
      </span>
      <SavedConfirmation onSaved={onSaved} />
    </Stack>
  );
}
