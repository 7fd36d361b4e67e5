import { Button, Group, Loader, Modal, Stack, Text } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { WebhookTest } from '../../api/generated.ts';
import type { Channel } from '../../parts/channels/channels.ts';
import { formatNumber } from '../../parts/format/format.ts';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { ScrollRegion } from '../../parts/tables/scroll-region.tsx';
import classes from './channels.module.css';

interface Props {
  channel: Channel;
  /** With the ID of the channel. */
  test: UseMutationResult<WebhookTest, Error, string>;
  onClose: () => void;
}

/** What the receiver answered to a test. */
export function TestDialog({ channel, test: { mutate, data, error, isPending }, onClose }: Props) {
  return (
    <Modal opened onClose={onClose} title={`Test of ${channel.name}`} centered>
      <Stack gap="md">
        <div role="status" className={classes.result}>
          {isPending ? (
            <Group gap="sm">
              <Loader size="sm" /> Sending a test…
            </Group>
          ) : data ? (
            <TestResult result={data} />
          ) : (
            error && <ErrorNotice error={error} title="Could not send a test" />
          )}
        </div>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" loading={isPending} onClick={() => mutate(channel.id)}>
            Send again
          </Button>
          <Button onClick={onClose}>Close</Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function TestResult({ result: { isDelivered, status, answer, tookMs, error } }: { result: WebhookTest }) {
  const details = [
    status === undefined ? '' : `Status ${status}`,
    tookMs === undefined ? '' : `${formatNumber(tookMs)} ms`,
  ].filter((text) => text !== '');
  return (
    <Stack gap="sm">
      {isDelivered ? (
        <Text fw={650} c="var(--ph-good)">
          Delivered
        </Text>
      ) : (
        <Note tone="bad" title="Not delivered">
          {error}
        </Note>
      )}
      {details.length > 0 && <Text size="sm">{details.join(' · ')}</Text>}
      {answer !== undefined && answer !== '' && (
        <ScrollRegion aria-label="Response of the receiver" className={classes.answer}>
          <pre>{answer}</pre>
        </ScrollRegion>
      )}
    </Stack>
  );
}
