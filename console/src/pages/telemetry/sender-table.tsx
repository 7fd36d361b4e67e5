import { Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useSession } from '../../app/context.tsx';
import { formatNumber } from '../../parts/format/format.ts';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import { formatChoice } from '../search/conditions.ts';
import { quoteText } from '../search/quote-text.ts';
import type { Report, Sender } from './queries.ts';
import type { Period } from './search.ts';
import classes from './telemetry.module.css';
import { formatBytes, formatOrigin, formatRejected, formatService, SIGNAL_LABELS } from './words.ts';

interface Props {
  report: Report | undefined;
  period: Period;
  nameToken: (id: string) => string;
  selected: Sender | undefined;
  onSelect: (sender: Sender | undefined) => void;
}

const toKey = ({ tokenId, serviceName, signal }: Sender): string => JSON.stringify([tokenId, serviceName, signal]);

/** What was received, by token, service and signal. A sender can be chosen for the chart. */
export function SenderTable({ report, period, nameToken, selected, onSelect }: Props) {
  const others = report ? report.senderCount - report.senders.length : 0;
  return (
    <>
      <DataTable
        label="Senders"
        columns={createColumns(period, nameToken, selected && toKey(selected), onSelect)}
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
  period: Period,
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
      header: 'Rows and chart',
      isHeaderHidden: true,
      align: 'right',
      from: 'sm',
      cell: (sender) => {
        const isSelected = toKey(sender) === selected;
        return (
          <Group gap={6} justify="flex-end" wrap="nowrap">
            <RowsLink sender={sender} period={period} />
            <Button
              size="compact-sm"
              variant={isSelected ? 'filled' : 'default'}
              aria-pressed={isSelected}
              aria-label={`Show only ${SIGNAL_LABELS[sender.signal].toLowerCase()} of ${formatOrigin(sender)} with ${nameToken(sender.tokenId)} in the chart`}
              onClick={() => onSelect(isSelected ? undefined : sender)}
            >
              Chart
            </Button>
          </Group>
        );
      },
    },
  ];
}

/** To the stored rows of a sender. Metrics have none that can be searched. */
function RowsLink({ sender: { signal, serviceName, acceptedRecords }, period }: { sender: Sender; period: Period }) {
  const { canSeeDashboards } = useSession();
  if (signal === 'metrics' || acceptedRecords === 0 || !canSeeDashboards) return null;
  const filters = [formatChoice({ expression: 'ServiceName', isExcluded: false, literals: [quoteText(serviceName)] })];
  return (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={`See the rows: ${SIGNAL_LABELS[signal].toLowerCase()} of ${formatService(serviceName)}`}
      renderRoot={(props) => <Link to="/search" search={{ source: signal, filters, last: period }} {...props} />}
    >
      See the rows
    </Button>
  );
}
