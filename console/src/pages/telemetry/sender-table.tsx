import { Button, Text } from '@mantine/core';
import { formatNumber } from '../../parts/format/format.ts';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import type { Report, Sender } from './queries.ts';
import classes from './telemetry.module.css';
import { formatBytes, formatOrigin, formatRejected, SIGNAL_LABELS } from './words.ts';

interface Props {
  report: Report | undefined;
  nameToken: (id: string) => string;
  selected: Sender | undefined;
  onSelect: (sender: Sender | undefined) => void;
}

const toKey = ({ tokenId, serviceName, signal }: Sender): string => JSON.stringify([tokenId, serviceName, signal]);

/** What was received, by token, service and signal. A sender can be chosen for the chart. */
export function SenderTable({ report, nameToken, selected, onSelect }: Props) {
  const others = report ? report.senderCount - report.senders.length : 0;
  return (
    <>
      <DataTable
        label="Senders"
        columns={createColumns(nameToken, selected && toKey(selected), onSelect)}
        rows={report?.senders}
        rowKey={toKey}
      />
      {others > 0 && (
        <Text size="sm" c="dimmed" className={classes.note}>
          {formatNumber(others)} other senders with fewer records are not listed.
        </Text>
      )}
    </>
  );
}

function createColumns(
  nameToken: Props['nameToken'],
  selected: string | undefined,
  onSelect: Props['onSelect'],
): Column<Sender>[] {
  return [
    {
      header: 'Service',
      sortBy: ({ serviceName }) => serviceName,
      cell: (sender) => (
        <>
          <span className={classes.name}>{formatOrigin(sender)}</span>
          <Text size="xs" c="dimmed" className={classes.onPhone}>
            {SIGNAL_LABELS[sender.signal]} with {nameToken(sender.tokenId)}
          </Text>
        </>
      ),
    },
    { header: 'Signal', sortBy: ({ signal }) => signal, cell: ({ signal }) => SIGNAL_LABELS[signal], from: 'sm' },
    {
      header: 'Token',
      sortBy: ({ tokenId }) => nameToken(tokenId),
      cell: ({ tokenId }) => <span className={classes.name}>{nameToken(tokenId)}</span>,
      from: 'sm',
    },
    {
      header: 'Accepted',
      align: 'right',
      sortBy: ({ acceptedRecords }) => acceptedRecords,
      cell: ({ acceptedRecords, acceptedBytes }) => (
        <>
          <span>{formatNumber(acceptedRecords)}</span>
          <Text size="xs" c="dimmed">
            {formatBytes(acceptedBytes)}
          </Text>
        </>
      ),
    },
    {
      header: 'Rejected',
      align: 'right',
      sortBy: ({ rejectedRecords }) => rejectedRecords,
      cell: ({ rejectedRecords, rejectedBytes }) => (
        <>
          <span className={rejectedBytes > 0 ? classes.rejected : undefined}>
            {rejectedBytes > 0 ? formatRejected(rejectedRecords) : '0'}
          </span>
          {rejectedBytes > 0 && (
            <Text size="xs" c="dimmed">
              {formatBytes(rejectedBytes)}
            </Text>
          )}
        </>
      ),
    },
    {
      header: 'Last received',
      from: 'md',
      sortBy: ({ lastReceivedAt }) => lastReceivedAt,
      cell: ({ lastReceivedAt }) => <Timestamp at={lastReceivedAt} show="ago" />,
    },
    {
      header: 'Chart',
      isHeaderHidden: true,
      align: 'right',
      from: 'sm',
      cell: (sender) => {
        const isSelected = toKey(sender) === selected;
        return (
          <Button
            size="compact-sm"
            variant={isSelected ? 'filled' : 'default'}
            aria-pressed={isSelected}
            aria-label={`Show only ${SIGNAL_LABELS[sender.signal].toLowerCase()} of ${formatOrigin(sender)} with ${nameToken(sender.tokenId)} in the chart`}
            onClick={() => onSelect(isSelected ? undefined : sender)}
          >
            Chart
          </Button>
        );
      },
    },
  ];
}
