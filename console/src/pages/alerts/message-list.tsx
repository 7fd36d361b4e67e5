import { Button, Group, Skeleton, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Alert, Notification } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { channelsQuery } from '../../parts/channels/channels.ts';
import { formatNumber, plural } from '../../parts/format/format.ts';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { notifyError, notifySuccess } from '../../parts/messages/notifications.ts';
import { ListEnd } from '../../parts/tables/list-end.tsx';
import { ScrollRegion } from '../../parts/tables/scroll-region.tsx';
import classes from './messages.module.css';
import { messagesQuery } from './queries.ts';

const STATUS_LABELS: Readonly<Record<Notification['status'], string>> = {
  pending: 'Waiting',
  delivered: 'Delivered',
  failed: 'Failed',
  cancelled: 'Canceled',
};

/** What was sent about the alert: payload, answer, attempts. */
export function MessageList({ alert: { id } }: { alert: Alert }) {
  const api = useApi();
  const { organizationId, canChangeDashboards } = useSession();
  const queries = useQueryClient();
  const options = messagesQuery(api, organizationId, id);
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(options);
  const channels = useQuery(channelsQuery(api, organizationId)).data;
  const again = useMutation({
    mutationFn: (messageId: string) => api.sendNotificationAgain({ id: messageId }),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: options.queryKey });
      notifySuccess('The message is sent again');
    },
    onError: (failure) => notifyError('Could not send the message again', failure),
  });
  const messages = data?.pages.flatMap(({ records }) => records);
  const getChannel = (channelId: string | null) =>
    channels?.find((one) => one.id === channelId)?.name ?? (channels ? 'a deleted channel' : '…');
  return (
    <Panel title="Messages" flush>
      {error && !messages ? (
        <ErrorNotice error={error} title="Could not load messages" retry={() => refetch()} />
      ) : !messages ? (
        <Skeleton height={40} m="md" w="auto" />
      ) : messages.length === 0 ? (
        <Text size="sm" c="dimmed" p="md" pt={0}>
          Nothing was sent in the last 30 days.
        </Text>
      ) : (
        <ul className={classes.list} aria-label="Messages">
          {messages.map((message) => (
            <MessageItem
              key={message.id}
              message={message}
              channel={getChannel(message.channelId)}
              isSending={again.isPending && again.variables === message.id}
              onAgain={canChangeDashboards && message.status !== 'pending' ? () => again.mutate(message.id) : undefined}
            />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <div className={classes.end}>
          <ListEnd
            count={plural(messages?.length ?? 0, 'message')}
            isLoading={isFetchingNextPage}
            onMore={() => void fetchNextPage()}
          />
        </div>
      )}
    </Panel>
  );
}

interface ItemProps {
  message: Notification;
  channel: string;
  isSending: boolean;
  /** Left out: the message cannot be sent again. */
  onAgain: (() => void) | undefined;
}

function MessageItem({ message, channel, isSending, onAgain }: ItemProps) {
  const { title, status, attempts, createdAt, lastAttemptAt, nextAttemptAt, lastError, lastExchange } = message;
  return (
    <li className={classes.item}>
      <details>
        <summary className={classes.head}>
          <span className={classes.status} data-status={status}>
            {STATUS_LABELS[status]}
          </span>
          <span className={classes.title}>{title ?? 'Message'}</span>
          <Text size="xs" c="dimmed" component="span" className={classes.when}>
            to {channel}, <Timestamp at={createdAt} show="ago" />
          </Text>
        </summary>
        <div className={classes.details}>
          <Text size="sm">
            {plural(attempts, 'attempt')}
            {lastAttemptAt && (
              <>
                , last <Timestamp at={lastAttemptAt} />
              </>
            )}
            {nextAttemptAt && (
              <>
                , next <Timestamp at={nextAttemptAt} show="full" />
              </>
            )}
          </Text>
          {lastError && (
            <Text size="sm" c="var(--ph-bad)">
              {lastError}
            </Text>
          )}
          {lastExchange && (
            <>
              <Document label={`Sent to ${lastExchange.to}`} text={formatJson(lastExchange.payload)} />
              <Document label={describeAnswer(lastExchange)} text={lastExchange.answer ?? ''} />
            </>
          )}
          {onAgain && (
            <Group>
              <Button size="compact-sm" variant="default" loading={isSending} onClick={onAgain}>
                Send again
              </Button>
            </Group>
          )}
        </div>
      </details>
    </li>
  );
}

function Document({ label, text }: { label: string; text: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4}>
        {label}
      </Text>
      {text !== '' && (
        <ScrollRegion aria-label={label} className={classes.document}>
          <pre>{text}</pre>
        </ScrollRegion>
      )}
    </div>
  );
}

const describeAnswer = ({ status, tookMs, answer }: NonNullable<Notification['lastExchange']>): string =>
  [
    status === undefined ? 'No status' : `Response with status ${status}`,
    tookMs === undefined ? '' : `after ${formatNumber(tookMs)} ms`,
    answer ? '' : '(empty)',
  ]
    .filter((text) => text !== '')
    .join(' ');

/** Indented, if it is JSON. */
function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
