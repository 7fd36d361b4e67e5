import { Text } from '@mantine/core';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import type { Rejection } from './queries.ts';
import classes from './telemetry.module.css';
import { formatRejected, formatService, RECORD_NAMES, SIGNAL_LABELS } from './words.ts';

interface Props {
  rejections: readonly Rejection[] | undefined;
  nameToken: (id: string) => string;
}

/** Why records were not stored, with one of them. */
export function RejectionTable({ rejections, nameToken }: Props) {
  return (
    <DataTable
      label="Rejected records"
      columns={createColumns(nameToken)}
      rows={rejections}
      rowKey={({ tokenId, serviceName, signal, reason }) => JSON.stringify([tokenId, serviceName, signal, reason])}
    />
  );
}

/** Reasons of records are the end of a sentence. */
const formatReason = ({ reason, records, signal }: Rejection): string =>
  records === 0 ? reason : `A ${RECORD_NAMES[signal]} was rejected because ${reason}`;

const createColumns = (nameToken: Props['nameToken']): Column<Rejection>[] => [
  {
    header: 'Reason',
    cell: (rejection) => (
      <>
        <span className={classes.name}>{formatReason(rejection)}</span>
        {rejection.sample !== '' && (
          <Text size="xs" c="dimmed" component="span" className={classes.sample}>
            Such as {rejection.sample}
          </Text>
        )}
      </>
    ),
  },
  {
    header: 'From',
    from: 'sm',
    cell: ({ serviceName, signal, tokenId, records }) => (
      <>
        {records === 0 ? nameToken(tokenId) : formatService(serviceName)}
        <Text size="xs" c="dimmed">
          {SIGNAL_LABELS[signal]}
          {records > 0 && ` with ${nameToken(tokenId)}`}
        </Text>
      </>
    ),
  },
  {
    header: 'Records',
    align: 'right',
    sortBy: ({ records }) => records,
    cell: ({ records }) => formatRejected(records),
  },
  {
    header: 'Last received',
    from: 'md',
    cell: ({ lastReceivedAt }) => <Timestamp at={lastReceivedAt} show="ago" />,
  },
];
