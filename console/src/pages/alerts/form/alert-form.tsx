import { Button, Collapse, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { ApiError, findFieldError, findOtherErrors } from '../../../api/errors.ts';
import type { Alert } from '../../../api/generated.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { channelsQuery } from '../../../parts/channels/channels.ts';
import { FormEnd } from '../../../parts/forms/form-end.tsx';
import { UnsavedGuard } from '../../../parts/forms/unsaved-guard.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import { notifySuccess } from '../../../parts/messages/notifications.ts';
import { replayQuery } from '../queries.ts';
import { useAlertActions } from '../use-alert-actions.ts';
import { type AlertDraft, canReplay, toAlertBody } from './alert-draft.ts';
import { MessageFields, SpecialFields } from './more-fields.tsx';
import { NotifyFields } from './notify-fields.tsx';
import { ReplayPanel } from './replay-panel.tsx';
import { RuleFields } from './rule-fields.tsx';
import { WatchFields } from './watch-fields.tsx';

/** The replay waits for a pause in typing. */
const PAUSE_MS = 700;
const MORE_FIELDS = [
  ...['noDataBehavior', 'errorBehavior', 'evaluationDelaySeconds', 'quietHours'],
  ...['scheduleOffsetMinutes', 'scheduleStartAt'],
];
const FIELDS = [
  ...['source', 'savedSearchId', 'groupBy', 'dashboardId', 'tileId', 'metric', 'condition', 'interval'],
  ...['threshold', 'thresholdType', 'thresholdMax', 'pendingMinutes', 'keepFiringMinutes', 'repeatMinutes'],
  ...['channel', 'channels', 'severity', 'name', 'message', 'owner', 'runbookUrl', 'labels'],
  ...['note', 'numConsecutiveWindows'],
  ...MORE_FIELDS,
];

interface Props {
  alert?: Alert;
  /** Of the alert when it was read. */
  etag?: string;
  initial: AlertDraft;
}

/** Creates an alert, or changes `alert`, with the replay below the fields. */
export function AlertForm({ alert, etag, initial }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { refresh } = useAlertActions();
  const [draft, setDraft] = useState(initial);
  const [days, setDays] = useState(7);
  const [showsMore, setShowsMore] = useState(() => hasSpecialValues(initial));
  const { data: channels = [] } = useQuery(channelsQuery(api, organizationId));
  const [only, ...others] = channels;
  const channelIds = draft.channelIds ?? (only && others.length === 0 ? [only.id] : []);
  const body = toAlertBody(draft, channelIds, alert);

  // Channels and texts do not change when it fires.
  const { channels: _channels, name: _name, message: _message, note: _note, ...replayed } = body;
  const replayedText = JSON.stringify(replayed);
  const [pausedText] = useDebouncedValue(replayedText, PAUSE_MS);
  const paused = useMemo(() => JSON.parse(pausedText) as typeof body, [pausedText]);
  const isReplayed = canReplay(draft);
  const replayOptions = replayQuery(api, organizationId, paused, days);
  const replay = useQuery({ ...replayOptions, enabled: isReplayed && pausedText === replayedText });

  const save = useMutation({
    mutationFn: () => (alert ? api.updateAlert({ id: alert.id, 'if-match': etag, body }) : api.createAlert({ body })),
    onSuccess: refresh,
  });
  const saved = save.data;
  useEffect(() => {
    if (!saved) return;
    notifySuccess(alert ? 'Saved the alert' : 'Created the alert');
    void navigate({ to: '/alerts/$id', params: { id: saved.id } });
  }, [saved, alert, navigate]);

  const onChange = (part: Partial<AlertDraft>) => {
    save.reset();
    setDraft((before) => ({ ...before, ...part }));
  };
  // An ended session shows the sign-in dialog instead.
  const error = save.error instanceof ApiError && save.error.status === 401 ? undefined : save.error;
  const replayError = isReplayed && pausedText === replayedText ? replay.error : undefined;
  const errorAt = (path: string) =>
    findFieldError(error, path) ?? findFieldError(replayError, path) ?? findFieldError(replayError, `alert.${path}`);
  const fields = { draft, errorAt, onChange };
  const hasMoreErrors = MORE_FIELDS.some((path) => errorAt(path) !== undefined);
  const isDirty = JSON.stringify(draft) !== JSON.stringify(initial) && !saved;
  const leave = () =>
    void (alert ? navigate({ to: '/alerts/$id', params: { id: alert.id } }) : navigate({ to: '/alerts' }));
  return (
    <form
      aria-label={alert ? 'Edit alert' : 'New alert'}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        // The dialog of a channel is a form inside this one for React.
        if (event.target === event.currentTarget) save.mutate();
      }}
    >
      <Stack gap="lg">
        <Panel title="What it watches">
          <WatchFields {...fields} />
        </Panel>
        <Panel title="When it fires">
          <RuleFields {...fields} />
        </Panel>
        <ReplayPanel
          reason={findNoReplayReason(draft)}
          alert={body}
          replay={replay}
          isOld={pausedText !== replayedText || replay.isPlaceholderData}
          days={days}
          onDays={setDays}
          onRun={() => void queries.refetchQueries({ queryKey: replayOptions.queryKey })}
        />
        <Panel title="Notifications">
          <NotifyFields {...fields} channels={channels} channelIds={channelIds} />
        </Panel>
        <Panel title="Message">
          <MessageFields {...fields} />
        </Panel>
        <Panel
          title="Missing data, errors, quiet hours and schedule"
          aside={
            <Button
              size="compact-sm"
              variant="subtle"
              color="gray"
              aria-expanded={showsMore || hasMoreErrors}
              onClick={() => setShowsMore(!showsMore)}
            >
              {showsMore || hasMoreErrors ? 'Hide' : 'Show'}
            </Button>
          }
        >
          {!showsMore && !hasMoreErrors && (
            <Text size="sm" c="dimmed">
              {hasSpecialValues(draft)
                ? 'Not the defaults.'
                : 'Missing data and failed evaluations set a state of their own and send a message. There are no quiet hours.'}
            </Text>
          )}
          <Collapse expanded={showsMore || hasMoreErrors}>
            <SpecialFields {...fields} />
          </Collapse>
        </Panel>
        <FormEnd
          error={findOtherErrors(error, FIELDS)}
          submit={alert ? 'Save changes' : 'Create alert'}
          isPending={save.isPending}
          onCancel={leave}
        />
      </Stack>
      <UnsavedGuard isDirty={isDirty}>Your changes to this alert have not been saved.</UnsavedGuard>
    </form>
  );
}

function hasSpecialValues(draft: AlertDraft): boolean {
  const { noDataBehavior, errorBehavior, quietRanges, scheduleOffsetMinutes, scheduleStartAt } = draft;
  const isMoved = scheduleOffsetMinutes !== '' || scheduleStartAt !== '';
  return noDataBehavior !== 'no_data' || errorBehavior !== 'error' || quietRanges.length > 0 || isMoved;
}

function findNoReplayReason(draft: AlertDraft): string | undefined {
  if (draft.source === 'condition') return 'The past of a condition is not stored, so there is nothing to replay.';
  if (draft.threshold === '') return 'Enter a threshold to see when the alert would have fired.';
  return canReplay(draft) ? undefined : 'Choose what the alert watches to see when it would have fired.';
}
