import { Button, Checkbox, Group } from '@mantine/core';
import { useState } from 'react';

/** Below a secret that is shown once: it cannot be left before somebody says it is saved. */
export function SavedConfirmation({ onSaved }: { onSaved: () => void }) {
  const [isSaved, setIsSaved] = useState(false);
  return (
    <>
      <Checkbox
        label="I have saved it"
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
