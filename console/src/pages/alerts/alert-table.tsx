import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Alert } from '../../api/generated.ts';
import type { useAlertNames } from '../../parts/alerts/alert-names.ts';
import { AlertState } from '../../parts/alerts/alert-state.tsx';
import {
  formatAlertValue,
  formatThreshold,
  getShownStatus,
  isLate,
  STATUSES,
} from '../../parts/alerts/alert-status.ts';
import { formatNumber } from '../../parts/format/format.ts';
import { Timestamp, useNow } from '../../parts/format/timestamp.tsx';
import { ActionsMenu, createActionsColumn } from '../../parts/forms/actions-menu.tsx';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import { AlertSparkline } from './alert-sparkline.tsx';
import classes from './alerts.module.css';

export type AlertAction = 'silence' | 'unsilence' | 'acknowledge' | 'edit' | 'delete';
type Names = ReturnType<typeof useAlertNames>;
type OnAction = (alert: Alert, action: AlertAction) => void;

interface Props {
  alerts: readonly Alert[] | undefined;
  names: Names;
  /** Left out: the actions are not shown. */
  onAction: OnAction | undefined;
}

export function AlertTable({ alerts, names, onAction }: Props) {
  const now = useNow();
  return (
    <DataTable
      label="Alerts"
      columns={createColumns(names, now, onAction)}
      rows={alerts}
      rowKey={({ id }) => id}
      loadingRows={4}
    />
  );
}

/** What fires first; then by name. */
export const sortAlerts = (alerts: readonly Alert[], { getName }: Names): Alert[] =>
  alerts.toSorted(
    (one, other) =>
      STATUSES.indexOf(getShownStatus(one)) - STATUSES.indexOf(getShownStatus(other)) ||
      getName(one).localeCompare(getName(other)),
  );

function createColumns({ getName, getSource }: Names, now: Date, onAction: OnAction | undefined): Column<Alert>[] {
  const columns: Column<Alert>[] = [
    {
      header: 'State',
      width: 170,
      sortBy: (alert) => STATUSES.indexOf(getShownStatus(alert)),
      cell: (alert) => (
        <>
          <AlertState alert={alert} />
          {alert.statusSince && getShownStatus(alert) !== 'new' && (
            <Text size="xs" c="dimmed">
              since <Timestamp at={alert.statusSince} show="ago" />
            </Text>
          )}
          {alert.acknowledged && (
            <Text size="xs" c="dimmed">
              acknowledged
            </Text>
          )}
          {alert.silenced && (
            <Text size="xs" c="var(--ph-warn)" title={alert.silenced.reason}>
              silenced until <Timestamp at={alert.silenced.until} />
            </Text>
          )}
          {isLate(alert, now) && (
            <Text size="xs" c="var(--ph-warn)">
              last evaluated <Timestamp at={alert.evaluatedUntil ?? ''} show="ago" />
            </Text>
          )}
        </>
      ),
    },
    {
      header: 'Name',
      sortBy: getName,
      cell: (alert) => (
        <div className={classes.name}>
          <Anchor
            size="sm"
            fw={600}
            renderRoot={(props) => <Link to="/alerts/$id" params={{ id: alert.id }} {...props} />}
          >
            {getName(alert)}
          </Anchor>
          <SourceText alert={alert} getSource={getSource} />
          <Text size="xs" hiddenFrom="sm">
            {formatAlertValue(alert.lastValue)}, fires if {formatThreshold(alert)}
          </Text>
          {alert.executionErrors.map(({ message, timestamp }) => (
            <Text key={timestamp} size="xs" c="var(--ph-bad)" lineClamp={2} title={message}>
              {message}
            </Text>
          ))}
        </div>
      ),
    },
    {
      header: 'Groups firing',
      align: 'right',
      from: 'sm',
      sortBy: ({ firingGroups }) => firingGroups,
      cell: (alert) => (getShownStatus(alert) === 'new' ? '–' : formatNumber(alert.firingGroups)),
    },
    {
      header: 'Last value',
      align: 'right',
      from: 'sm',
      sortBy: ({ lastValue }) => lastValue,
      cell: (alert) => (
        <span className="ph-fixed">
          {formatAlertValue(alert.lastValue)}
          <Text size="xs" c="dimmed">
            fires if {formatThreshold(alert)}
          </Text>
        </span>
      ),
    },
    { header: 'Last evaluations', from: 'md', width: 150, cell: (alert) => <AlertSparkline alert={alert} /> },
    { header: 'Owner', from: 'lg', sortBy: ({ owner }) => owner, cell: ({ owner }) => owner ?? '–' },
  ];
  if (onAction)
    columns.push(
      createActionsColumn((alert) => (
        <ActionsMenu
          subject={`alert ${getName(alert)}`}
          actions={listActions(alert).map(([action, name]) => ({ name, onClick: () => onAction(alert, action) }))}
          onDelete={() => onAction(alert, 'delete')}
        />
      )),
    );
  return columns;
}

/** The actions that the state of the alert allows. */
function listActions(alert: Alert): [AlertAction, string][] {
  return [
    ...(canAcknowledge(alert) ? [['acknowledge', 'Acknowledge'] as [AlertAction, string]] : []),
    alert.silenced ? ['unsilence', 'End silence'] : ['silence', 'Silence'],
    ['edit', 'Edit'],
  ];
}

/** The alert fires, and was not acknowledged. */
export const canAcknowledge = (alert: Alert): boolean =>
  !alert.acknowledged && ['firing', 'no_data'].includes(alert.status);

function SourceText({ alert, getSource }: { alert: Alert; getSource: Names['getSource'] }) {
  const { kind, name, isMissing } = getSource(alert);
  return (
    <Text size="xs" c={isMissing ? 'var(--ph-bad)' : 'dimmed'}>
      {kind}
      {alert.name !== null && alert.name !== undefined && `: ${name}`}
      {alert.groupBy ? ` · by ${alert.groupBy}` : ''}
    </Text>
  );
}
