import { Button, Group } from '@mantine/core';
import { Note } from '../layout/note.tsx';

interface Props {
  /** An error that belongs to no field. */
  error: string | undefined;
  submit: string;
  isPending: boolean;
  onCancel(): void;
}

/** The last rows of the form in a dialog. */
export function FormEnd({ error, submit, isPending, onCancel }: Props) {
  return (
    <>
      {error && <Note tone="bad">{error}</Note>}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit" loading={isPending}>
          {submit}
        </Button>
      </Group>
    </>
  );
}
