import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Alert } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { useAlertNames } from '../../parts/alerts/alert-names.ts';
import { AlertState } from '../../parts/alerts/alert-state.tsx';
import { isLate } from '../../parts/alerts/alert-status.ts';
import { Timestamp, useNow } from '../../parts/format/timestamp.tsx';
import { ConfirmDialog } from '../../parts/forms/confirm-dialog.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { AlertFacts } from './alert-facts.tsx';
import { canAcknowledge } from './alert-table.tsx';
import { AlertTimeline } from './alert-timeline.tsx';
import { EvaluationTable } from './evaluation-table.tsx';
import { GroupTable } from './group-table.tsx';
import { MessageList } from './message-list.tsx';
import { alertQuery } from './queries.ts';
import { SilenceDialog } from './silence-dialog.tsx';
import { useAlertActions } from './use-alert-actions.ts';

const route = getRouteApi('/signed-in/alerts/$id');

/** One alert: what it watches, what it saw and what it sent. Messages link to this page. */
export function AlertPage() {
  const { id } = route.useParams();
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, refetch } = useQuery(alertQuery(api, organizationId, id));
  if (data) return <AlertView key={id} alert={data} />;
  return (
    <Page title="Alert">
      {error ? (
        <ErrorNotice error={error} title="Could not load the alert" retry={() => refetch()} />
      ) : (
        <Skeleton height={400} />
      )}
    </Page>
  );
}

function AlertView({ alert }: { alert: Alert }) {
  const names = useAlertNames([alert]);
  const name = names.getName(alert);
  return (
    <Page
      title={name}
      badges={<AlertState alert={alert} />}
      subtitle={<AlertSubtitle alert={alert} />}
      actions={<AlertActions alert={alert} name={name} />}
    >
      <Stack gap="lg">
        <AlertNotes alert={alert} />
        <AlertFacts alert={alert} source={names.getSource(alert)} />
        <AlertTimeline alert={alert} />
        <GroupTable alert={alert} />
        <MessageList alert={alert} />
        <EvaluationTable alert={alert} />
      </Stack>
    </Page>
  );
}

function AlertSubtitle({ alert: { statusSince, evaluatedUntil } }: { alert: Alert }) {
  if (evaluatedUntil === undefined) return <>The first window has not been evaluated yet.</>;
  return (
    <>
      {statusSince && (
        <>
          Since <Timestamp at={statusSince} /> ·{' '}
        </>
      )}
      evaluated until <Timestamp at={evaluatedUntil} />
    </>
  );
}

/** What a person should know before anything else. */
function AlertNotes({ alert }: { alert: Alert }) {
  const now = useNow();
  const { silenced, acknowledged, executionErrors, evaluatedUntil } = alert;
  return (
    <>
      {executionErrors.map(({ timestamp, type, message }) => (
        <Note key={timestamp} tone="bad" title="The alert could not be evaluated">
          <Text size="sm">{message}</Text>
          <Text size="xs" c="dimmed">
            {type} · last attempt <Timestamp at={timestamp} show="ago" />
          </Text>
        </Note>
      ))}
      {isLate(alert, now) && evaluatedUntil !== undefined && (
        <Note tone="warn" title="The state is out of date">
          No window has been evaluated since <Timestamp at={evaluatedUntil} />.
        </Note>
      )}
      {silenced && (
        <Note tone="warn" title="Silenced">
          {silenced.by} silenced it until <Timestamp at={silenced.until} />
          {silenced.reason === undefined ? '.' : `: ${silenced.reason}`}
        </Note>
      )}
      {acknowledged && (
        <Note tone="warn" title="Acknowledged">
          {acknowledged.by} acknowledged it <Timestamp at={acknowledged.at} show="ago" />. Groups that are firing are
          not sent again.
        </Note>
      )}
    </>
  );
}

function AlertActions({ alert, name }: { alert: Alert; name: string }) {
  const { canChangeDashboards } = useSession();
  const navigate = route.useNavigate();
  const actions = useAlertActions();
  const [dialog, setDialog] = useState<'silence' | 'delete'>();
  if (!canChangeDashboards) return null;
  const close = () => setDialog(undefined);
  return (
    <>
      <Group gap="xs">
        {canAcknowledge(alert) && (
          <Button variant="default" onClick={() => void actions.acknowledge(alert, name)}>
            Acknowledge
          </Button>
        )}
        {alert.silenced ? (
          <Button variant="default" onClick={() => void actions.endSilence(alert, name)}>
            End silence
          </Button>
        ) : (
          <Button variant="default" onClick={() => setDialog('silence')}>
            Silence
          </Button>
        )}
        <Button
          variant="default"
          renderRoot={(props) => <Link to="/alerts/$id/edit" params={{ id: alert.id }} {...props} />}
        >
          Edit
        </Button>
        <Button variant="default" c="var(--ph-bad)" onClick={() => setDialog('delete')}>
          Delete
        </Button>
      </Group>
      {dialog === 'silence' && (
        <SilenceDialog
          name={name}
          onSilence={(until, reason) => actions.silence(alert, name, until, reason)}
          onClose={close}
        />
      )}
      <ConfirmDialog
        opened={dialog === 'delete'}
        isDangerous
        title="Delete this alert?"
        action="Delete"
        onConfirm={async () => {
          await actions.remove(alert, name);
          await navigate({ to: '/alerts' });
        }}
        onClose={close}
      >
        <b>{name}</b> and its history will be deleted. This cannot be undone.
      </ConfirmDialog>
    </>
  );
}
