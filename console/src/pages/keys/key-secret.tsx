import { Button, Group, Stack, Text } from '@mantine/core';
import { CopyTextButton } from '../../parts/forms/copy-button.tsx';
import { saveFile } from '../../parts/forms/save-file.ts';
import { SavedConfirmation } from '../../parts/forms/saved-confirmation.tsx';
import { SecretValues } from '../../parts/forms/secret-values.tsx';
import { DownloadIcon } from '../../parts/layout/icons.tsx';
import { Note } from '../../parts/layout/note.tsx';

interface Props {
  name: string;
  keyId: string;
  keySecret: string;
  /** Generated in the browser; the server has only hashes. */
  isHashed: boolean;
  onSaved: () => void;
}

/** Shows the secret once and closes only after the user confirms that it is saved. */
export function KeySecret({ name, keyId, keySecret, isHashed, onSaved }: Props) {
  const file = `# Pilothouse key ${JSON.stringify(name)}\nKEY_ID=${keyId}\nKEY_SECRET=${keySecret}\n`;
  return (
    <Stack gap="md">
      <Note tone="warn">
        <Text size="sm">
          This secret is shown only once.{' '}
          {isHashed
            ? 'It was generated in this browser; the server has only hashes.'
            : 'The server stores only a hash.'}
        </Text>
      </Note>
      <SecretValues
        values={[
          { label: 'Key ID', value: keyId, copy: 'Copy key ID', testId: 'key-id' },
          { label: 'Secret', value: keySecret, copy: 'Copy secret', testId: 'key-secret' },
        ]}
      />
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
