import { Button, Group, Stack, Text } from '@mantine/core';
import { CopyIconButton, CopyTextButton } from '../../parts/copy-button.tsx';
import { DownloadIcon } from '../../parts/icons.tsx';
import { Note } from '../../parts/note.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { SavedConfirmation } from '../../parts/saved-confirmation.tsx';
import classes from './keys.module.css';

interface Props {
  name: string;
  keyId: string;
  keySecret: string;
  /** With hashes only the browser has ever seen them. */
  isHashed: boolean;
  onSaved: () => void;
}

/** The only time the secret is seen. It cannot be left before somebody says it is saved. */
export function KeySecret({ name, keyId, keySecret, isHashed, onSaved }: Props) {
  const file = `# Pilothouse key ${JSON.stringify(name)}\nKEY_ID=${keyId}\nKEY_SECRET=${keySecret}\n`;
  return (
    <Stack gap="md">
      <Note tone="warn">
        <Text size="sm">
          This is the only time the secret is shown.{' '}
          {isHashed
            ? 'It was made in this browser, and the server was given hashes only.'
            : 'The server keeps no more than a hash of it.'}
        </Text>
      </Note>
      <dl className={classes.secret}>
        <dt>Key id</dt>
        <dd>
          <span data-testid="key-id">{keyId}</span>
          <CopyIconButton value={keyId} label="Copy the key id" />
        </dd>
        <dt>Secret</dt>
        <dd>
          <span data-testid="key-secret">{keySecret}</span>
          <CopyIconButton value={keySecret} label="Copy the secret" />
        </dd>
      </dl>
      <Group gap="xs">
        <CopyTextButton value={`${keyId}:${keySecret}`}>Copy both</CopyTextButton>
        <Button
          variant="default"
          leftSection={<DownloadIcon size={16} />}
          onClick={() => saveFile(`pilothouse-key-${keyId.slice(-4)}.env`, 'text/plain', file)}
        >
          Download
        </Button>
      </Group>
      <SavedConfirmation onSaved={onSaved} />
    </Stack>
  );
}
