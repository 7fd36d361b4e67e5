import { Button, Checkbox, Group } from '@mantine/core';
import { useState } from 'react';

/** For a secret that is shown once: the dialog closes only after the user confirms that it is saved. */
export function SavedConfirmation({ onSaved }: { onSaved: () => void }) {
  const [isSaved, setIsSaved] = useState(false);
  return (
    <>
      <Checkbox
        label="I have saved the secret"
        checked={isSaved}
        onChange={(event) => setIsSaved(event.currentTarget.checked)}
      />
      <Group justify="flex-end">
        <Button disabled={!isSaved} onClick={onSaved}>
          Done
        </Button>
      </Group>
    </>
  );
}
