import { Anchor, Badge, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Alert } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import type { AlertSource } from '../../parts/alerts/alert-names.ts';
import { formatAlertValue, formatThreshold, INTERVAL_LABELS } from '../../parts/alerts/alert-status.ts';
import { channelsQuery, SERVICE_LABELS } from '../../parts/channels/channels.ts';
import { plural } from '../../parts/format/format.ts';
import { Fact, Facts } from '../../parts/layout/facts.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { savedSearchesQuery } from '../search/queries.ts';
import { toRowSearch } from '../search/saved/saved-search.ts';
import type { RowSearch } from '../search/search.ts';
import { SEVERITY_LABELS } from './form/notify-fields.tsx';

interface Props {
  alert: Alert;
  source: AlertSource;
}

/** What the alert watches, when it fires and whom it tells. */
export function AlertFacts({ alert, source }: Props) {
  const { runbookUrl, owner, labels, pendingMinutes, keepFiringMinutes, repeatMinutes, severity, quietHours } = alert;
  const labelList = Object.entries(labels ?? {});
  return (
    <Panel title="Rule">
      <Facts>
        <Fact label={source.kind}>
          <SourceLink alert={alert} source={source} />
          {alert.groupBy ? `, by ${alert.groupBy}` : ''}
        </Fact>
        <Fact label="Fires if">
          {formatThreshold(alert)} {alert.source === 'condition' ? 'every' : 'in'} {INTERVAL_LABELS[alert.interval]}
          {pendingMinutes ? `, for ${formatMinutes(pendingMinutes)}` : ''}
          {keepFiringMinutes ? `; resolved if normal for ${formatMinutes(keepFiringMinutes)}` : ''}
        </Fact>
        <Fact label="Last value">{formatAlertValue(alert.lastValue)}</Fact>
        <Fact label="Channels">
          <ChannelNames alert={alert} />
        </Fact>
        <Fact label="Repeated">{repeatMinutes ? `every ${formatMinutes(repeatMinutes)}` : 'never'}</Fact>
        <Fact label="Severity">{severity ? SEVERITY_LABELS[severity] : undefined}</Fact>
        <Fact label="Quiet hours">
          {quietHours
            ? `${quietHours.ranges
                .map(({ days, start, end }) => `${days ? `${days.join(', ')} ` : ''}${start} – ${end}`)
                .join('; ')} (${quietHours.timezone})`
            : undefined}
        </Fact>
        <Fact label="Owner">{owner ?? undefined}</Fact>
        <Fact label="Runbook">
          {runbookUrl ? (
            <Anchor size="sm" href={runbookUrl} target="_blank" rel="noreferrer">
              {runbookUrl}
            </Anchor>
          ) : undefined}
        </Fact>
        <Fact label="Labels">
          {labelList.length > 0 ? (
            <Group gap={6}>
              {labelList.map(([name, value]) => (
                <Badge key={name} variant="default" tt="none" fw={500}>
                  {name}: {String(value)}
                </Badge>
              ))}
            </Group>
          ) : undefined}
        </Fact>
        <Fact label="Note">{alert.note ?? undefined}</Fact>
      </Facts>
    </Panel>
  );
}

const formatMinutes = (minutes: number): string =>
  minutes % 60 === 0 ? plural(minutes / 60, 'hour') : plural(minutes, 'minute');

function SourceLink({ alert: { source, savedSearchId, dashboardId, tileId }, source: named }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data } = useQuery({ ...savedSearchesQuery(api, organizationId), enabled: source === 'saved_search' });
  const saved = data?.find(({ id }) => id === savedSearchId);
  if (named.isMissing) return <>It was deleted.</>;
  if (saved)
    return (
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link to="/search" search={{ ...toRowSearch(saved), last: '24h' } as RowSearch} {...props} />
        )}
      >
        {named.name}
      </Anchor>
    );
  if (source === 'tile' && dashboardId && tileId)
    return (
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link to="/dashboards/$id" params={{ id: dashboardId }} search={{ tile: tileId }} {...props} />
        )}
      >
        {named.name}
      </Anchor>
    );
  return <>{named.name}</>;
}

function ChannelNames({ alert: { channels } }: { alert: Alert }) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data } = useQuery(channelsQuery(api, organizationId));
  const names = channels.map(({ webhookId }) => {
    const found = data?.find(({ id }) => id === webhookId);
    return found ? `${found.name} (${SERVICE_LABELS[found.service]})` : data ? 'deleted channel' : '…';
  });
  return <>{names.length === 0 ? 'None' : names.join(', ')}</>;
}
