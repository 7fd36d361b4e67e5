import { Anchor, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Alert } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { useAlertNames } from '../../parts/alerts/alert-names.ts';
import { AlertState } from '../../parts/alerts/alert-state.tsx';
import { needsAttention } from '../../parts/alerts/alert-status.ts';
import { alertsQuery } from '../../parts/alerts/alerts-query.ts';
import { formatNumber, plural } from '../../parts/format/format.ts';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import classes from './firing-alerts.module.css';

const SHOWN = 5;

/** The alerts that fire, fail or have no data. */
export function FiringAlerts() {
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, refetch } = useQuery(alertsQuery(api, organizationId));
  const found = (data?.filter(needsAttention) ?? []).toSorted(
    (one, other) =>
      Number(other.status === 'firing') - Number(one.status === 'firing') ||
      (other.statusSince ?? '').localeCompare(one.statusSince ?? ''),
  );
  const { getName } = useAlertNames(found);
  return (
    <Panel
      title="Alerts"
      aside={
        <Anchor size="sm" renderRoot={(props) => <Link to="/alerts" {...props} />}>
          All alerts
        </Anchor>
      }
      flush
    >
      {data ? (
        <>
          <Text size="sm" c="dimmed" className={classes.summary}>
            {describeAlerts(data, found)}
          </Text>
          {found.length > 0 && (
            <ul className={classes.list}>
              {found.slice(0, SHOWN).map((alert) => (
                <li key={alert.id} className={classes.item}>
                  <AlertState alert={alert} />
                  <Anchor
                    size="sm"
                    className={classes.name}
                    renderRoot={(props) => <Link to="/alerts/$id" params={{ id: alert.id }} {...props} />}
                  >
                    {getName(alert)}
                  </Anchor>
                  {alert.statusSince && (
                    <Text size="xs" c="dimmed" component="span" className={classes.when}>
                      <Timestamp at={alert.statusSince} show="ago" />
                    </Text>
                  )}
                </li>
              ))}
            </ul>
          )}
        </>
      ) : error ? (
        <ErrorNotice error={error} title="Could not load alerts" retry={() => refetch()} />
      ) : (
        <Skeleton height={14} m="md" w="auto" />
      )}
    </Panel>
  );
}

/** "2 of 12 alerts are firing.", with those that fail or have no data. */
function describeAlerts(alerts: readonly Alert[], found: readonly Alert[]): string {
  if (alerts.length === 0) return 'There are no alerts.';
  const firing = found.filter(({ status }) => status === 'firing').length;
  const others = found.length - firing;
  const sentence =
    firing === 0
      ? 'No alerts are firing'
      : `${formatNumber(firing)} of ${plural(alerts.length, 'alert')} ${firing === 1 ? 'is' : 'are'} firing`;
  return `${sentence}.${others > 0 ? ` ${formatNumber(others)} failed or ${others === 1 ? 'has' : 'have'} no data.` : ''}${found.length > SHOWN ? ` The newest ${SHOWN}:` : ''}`;
}
