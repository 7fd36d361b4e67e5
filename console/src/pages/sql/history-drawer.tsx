import { Drawer, Skeleton, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useSession } from '../../app/context.tsx';
import { plural } from '../../parts/format/format.ts';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { CopyIconButton } from '../../parts/forms/copy-button.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { formatBytes } from '../telemetry/words.ts';
import { historyQuery } from './queries.ts';
import { formatMs } from './run-status.tsx';
import classes from './sql.module.css';

interface Props {
  serviceId: string;
  onOpen: (sql: string, database: string) => void;
  onClose: () => void;
}

/** The statements that this person has run. */
export function HistoryDrawer({ serviceId, onOpen, onClose }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const [text, setText] = useState('');
  const { data, error, refetch } = useQuery(historyQuery(api, organizationId, serviceId));
  const found = data?.filter(({ sql }) => sql.toLowerCase().includes(text.trim().toLowerCase()));
  return (
    <Drawer
      opened
      onClose={onClose}
      title="History"
      position="right"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <TextInput
        mb="sm"
        aria-label="Find a statement"
        placeholder="Find a statement"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {error ? (
        <ErrorNotice error={error} title="Could not load the history" retry={() => refetch()} />
      ) : found === undefined ? (
        <Skeleton height={160} />
      ) : found.length === 0 ? (
        <Text size="sm" c="dimmed">
          {data?.length === 0 ? 'You have run no statements.' : 'No statement has this text.'}
        </Text>
      ) : (
        <ul className={classes.list} aria-label="History">
          {found.map(({ id, sql, database, access, startedAt, durationMs, rowsRead, bytesRead, error: failure }) => (
            <li key={id}>
              <button type="button" className={classes.entry} onClick={() => onOpen(sql, database)}>
                <code>{sql}</code>
                <div className={classes.facts}>
                  <Timestamp at={startedAt} show="ago" />, {formatMs(durationMs)}
                  {rowsRead === null
                    ? ', download'
                    : `, read ${plural(rowsRead, 'row')}, ${formatBytes(bytesRead ?? 0)}`}
                  {access === 'write' && ', read and write'}
                </div>
                {failure && <div className={`${classes.facts} ${classes.failure}`}>{failure.slice(0, 300)}</div>}
              </button>
              <CopyIconButton value={sql} label="Copy statement" />
            </li>
          ))}
        </ul>
      )}
    </Drawer>
  );
}
