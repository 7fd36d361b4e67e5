import { Button, Chip, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Alert } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { useAlertNames } from '../../parts/alerts/alert-names.ts';
import { getShownStatus, STATUS_LABELS, STATUSES } from '../../parts/alerts/alert-status.ts';
import { alertsQuery } from '../../parts/alerts/alerts-query.ts';
import { formatNumber, plural } from '../../parts/format/format.ts';
import { ConfirmDialog } from '../../parts/forms/confirm-dialog.tsx';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { PlusIcon } from '../../parts/layout/icons.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { ListSearch } from '../../parts/tables/list-search.tsx';
import { type AlertAction, AlertTable, sortAlerts } from './alert-table.tsx';
import classes from './alerts.module.css';
import type { StateFilter } from './search.ts';
import { SilenceDialog } from './silence-dialog.tsx';
import { useAlertActions } from './use-alert-actions.ts';

const route = getRouteApi('/signed-in/alerts');

const FILTERS: { value: StateFilter; label: string }[] = [
  ...STATUSES.map((value) => ({ value, label: STATUS_LABELS[value] })),
  { value: 'silenced', label: 'Silenced' },
];

const hasState = (alert: Alert, state: StateFilter): boolean =>
  state === 'silenced' ? alert.silenced !== undefined : getShownStatus(alert) === state;

/** All alerts with their states. */
export function AlertsPage() {
  const api = useApi();
  const { organizationId, canChangeDashboards } = useSession();
  const { state } = route.useSearch();
  const navigate = route.useNavigate();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<{ alert: Alert; action: 'silence' | 'delete' }>();
  const { data, error, refetch } = useQuery(alertsQuery(api, organizationId));
  const names = useAlertNames(data);
  const { getName } = names;
  const actions = useAlertActions();
  const wanted = text.trim().toLowerCase();
  const shown =
    data &&
    sortAlerts(
      data.filter(
        (alert) =>
          (state === undefined || hasState(alert, state)) &&
          [getName(alert), alert.owner ?? ''].some((one) => one.toLowerCase().includes(wanted)),
      ),
      names,
    );
  const act = (alert: Alert, action: AlertAction) => {
    if (action === 'edit') void navigate({ to: '/alerts/$id/edit', params: { id: alert.id } });
    else if (action === 'acknowledge') void actions.acknowledge(alert, getName(alert));
    else if (action === 'unsilence') void actions.endSilence(alert, getName(alert));
    else setChosen({ alert, action });
  };
  const create = canChangeDashboards && (
    <Button leftSection={<PlusIcon size={16} />} renderRoot={(props) => <Link to="/alerts/new" {...props} />}>
      Create alert
    </Button>
  );
  return (
    <Page
      title="Alerts"
      subtitle={data ? describeAlerts(data) : 'Loading…'}
      actions={
        <>
          <Button variant="default" renderRoot={(props) => <Link to="/channels" {...props} />}>
            Channels
          </Button>
          {create}
        </>
      }
    >
      {error && !data ? (
        <ErrorNotice error={error} title="Could not load alerts" retry={() => refetch()} />
      ) : data?.length === 0 ? (
        <Panel>
          <EmptyState title="No alerts yet" action={create}>
            An alert evaluates a saved search, a tile, a metric or a condition of your resources after each time window,
            and notifies a channel when its state changes. Create one here, from a saved search on the search page, or
            from a tile of a dashboard.
          </EmptyState>
        </Panel>
      ) : (
        <Panel flush>
          <div className={classes.filters}>
            <Group gap={6} role="group" aria-label="State">
              {FILTERS.map(({ value, label }) => ({
                value,
                label,
                count: data?.filter((one) => hasState(one, value)).length ?? 0,
              }))
                .filter(({ value, count }) => count > 0 || value === state)
                .map(({ value, label, count }) => (
                  <Chip
                    key={value}
                    size="xs"
                    checked={state === value}
                    onChange={(isOn) => void navigate({ search: isOn ? { state: value } : {}, replace: true })}
                  >
                    {label} ({formatNumber(count)})
                  </Chip>
                ))}
            </Group>
            <ListSearch label="Find by name or owner" value={text} onChange={setText} className={classes.search} />
          </div>
          {shown?.length === 0 ? (
            <EmptyState
              title="No matching alerts"
              action={
                <Button
                  variant="default"
                  onClick={() => {
                    setText('');
                    void navigate({ search: {}, replace: true });
                  }}
                >
                  Show all
                </Button>
              }
            />
          ) : (
            <AlertTable alerts={shown} names={names} onAction={canChangeDashboards ? act : undefined} />
          )}
        </Panel>
      )}
      {chosen?.action === 'silence' && (
        <SilenceDialog
          name={getName(chosen.alert)}
          onSilence={(until, reason) => actions.silence(chosen.alert, getName(chosen.alert), until, reason)}
          onClose={() => setChosen(undefined)}
        />
      )}
      {chosen?.action === 'delete' && (
        <ConfirmDialog
          opened
          isDangerous
          title="Delete this alert?"
          action="Delete"
          onConfirm={() => actions.remove(chosen.alert, getName(chosen.alert))}
          onClose={() => setChosen(undefined)}
        >
          <b>{getName(chosen.alert)}</b> and its history will be deleted. This cannot be undone.
        </ConfirmDialog>
      )}
    </Page>
  );
}

/** "12 alerts, 2 firing". */
function describeAlerts(alerts: readonly Alert[]): string {
  const firing = alerts.filter(({ status }) => status === 'firing').length;
  return `${plural(alerts.length, 'alert')}${alerts.length === 0 ? '' : `, ${formatNumber(firing)} firing`}`;
}
