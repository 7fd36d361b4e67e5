import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { formatError } from '../../api/errors.ts';
import type { ConsoleSetupResult } from '../../api/generated.ts';
import { useDependencies } from '../../app/context.tsx';
import { CopyTextButton } from '../../parts/forms/copy-button.tsx';
import { saveFile } from '../../parts/forms/save-file.ts';
import { DownloadIcon } from '../../parts/layout/icons.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { ScrollRegion } from '../../parts/tables/scroll-region.tsx';
import classes from './setup.module.css';

/** The organization as a file to keep under version control, and the way into the console. */
export function FleetFile({ created: { keyId, keySecret, fleetFile } }: { created: ConsoleSetupResult }) {
  const { base, sessions } = useDependencies();
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const openConsole = async () => {
    setIsBusy(true);
    try {
      await sessions.signIn({ keyId, keySecret });
      // Loads the page again: its configuration says that the server needs a first organization.
      window.location.assign(`${base}/`);
    } catch (failure) {
      setError(failure);
      setIsBusy(false);
    }
  };
  return (
    <Stack gap="md">
      <div>
        <Title order={2} size="h4">
          Fleet file
        </Title>
        <Text size="sm" c="dimmed">
          Your organization as a file, with hashes instead of secrets. Keep it, add services to it, and start the server
          with <code>--fleet fleet.yaml</code>. Applying it unchanged changes nothing. <code>pilothouse export</code>{' '}
          prints it again.
        </Text>
      </div>
      <ScrollRegion className={classes.file} aria-label="Fleet file">
        <pre>{fleetFile}</pre>
      </ScrollRegion>
      <Group gap="xs">
        <Button
          variant="default"
          leftSection={<DownloadIcon size={16} />}
          onClick={() => saveFile('fleet.yaml', 'application/yaml', fleetFile)}
        >
          Download
        </Button>
        <CopyTextButton value={fleetFile}>Copy</CopyTextButton>
      </Group>
      {error !== undefined && <Note tone="bad">{formatError(error)}</Note>}
      <Button size="md" loading={isBusy} onClick={openConsole}>
        Open the console
      </Button>
    </Stack>
  );
}
