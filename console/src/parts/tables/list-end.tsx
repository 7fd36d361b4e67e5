import { Button, Group } from '@mantine/core';

interface Props {
  /** "50 services". */
  count: string;
  isLoading: boolean;
  onMore: () => void;
}

/** Below a list with more records: the number of loaded ones, and a button for the next page. */
export function ListEnd({ count, isLoading, onMore }: Props) {
  return (
    <Group justify="space-between" mt="md">
      <span role="status">{count} loaded</span>
      <Button variant="default" loading={isLoading} onClick={onMore}>
        Load more
      </Button>
    </Group>
  );
}
