import { Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { formatError } from '../../api/errors.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { arrivalQuery, type Report } from './queries.ts';
import classes from './telemetry.module.css';
import { formatSender } from './words.ts';

const SHOWN_SENDERS = 3;

interface Arrival {
  state: 'waiting' | 'received' | 'rejected';
  text: string;
  detail: string;
}

/** What has arrived: nothing, records, or only records that were rejected. */
function describe({ senders, rejections }: Report): Arrival {
  const accepted = senders.filter(({ acceptedRecords }) => acceptedRecords > 0);
  if (accepted.length > 0) {
    const more = accepted.length - SHOWN_SENDERS;
    return {
      state: 'received',
      text: accepted.slice(0, SHOWN_SENDERS).map(formatSender).join(', '),
      detail: `Stored in the last 24 hours${more > 0 ? `, and more from ${more} other senders` : ''}`,
    };
  }
  const [rejection] = rejections;
  if (rejection)
    return {
      state: 'rejected',
      text: rejection.records > 0 ? 'Records arrive, but are rejected' : 'Requests arrive, but are refused',
      detail: rejection.reason,
    };
  return { state: 'waiting', text: 'Waiting for the first rows', detail: 'Checked every two seconds' };
}

/** Changes when the first rows are stored, with the token that was just created or with any. */
export function ArrivalStatus({ tokenId }: { tokenId: string | undefined }) {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const { data, error } = useQuery(arrivalQuery(api, organizationId, tokenId));
  const { state, text, detail }: Arrival = data
    ? describe(data)
    : { state: 'waiting', text: 'Waiting for the first rows', detail: error ? formatError(error) : 'Checking…' };
  // The rest of the page shows the first rows at once.
  useEffect(() => {
    if (state === 'waiting') return;
    for (const part of ['report', 'storage'])
      void queries.invalidateQueries({ queryKey: [organizationId, 'telemetry', part] });
  }, [state, organizationId, queries]);
  return (
    <div className={classes.arrival} data-state={state} role="status" data-testid="arrival">
      <span className={classes.dot} aria-hidden="true" />
      <div className={classes.arrivalText}>
        <Text fw={600}>{text}</Text>
        <Text size="sm" c="dimmed">
          {detail}
        </Text>
      </div>
    </div>
  );
}
