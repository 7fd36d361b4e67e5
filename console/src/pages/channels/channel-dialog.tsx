import { Modal, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { ApiError, findOtherErrors } from '../../api/errors.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { type Channel, channelsQuery } from '../../parts/channels/channels.ts';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { SigningSecret } from '../../parts/forms/signing-secret.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { type ChannelDraft, createChannelDraft, toChannelBody } from './channel-draft.ts';
import { ChannelFields } from './channel-fields.tsx';

const FIELDS = [
  'service',
  'name',
  'url',
  'description',
  'body',
  'headers',
  'queryParams',
  'routingKey',
  'to',
  'timeoutSeconds',
];

interface Props {
  /** Left out: a new channel. */
  channel?: Channel | undefined;
  onSaved?: (channel: Channel) => void;
  onClose: () => void;
}

/** Creates or changes a channel. A secret that the server generated is shown afterwards, once. */
export default function ChannelDialog({ channel, onSaved, onClose }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const [draft, setDraft] = useState(() => createChannelDraft(channel));
  const save = useMutation({
    mutationFn: () => {
      const body = toChannelBody(draft);
      return channel ? api.updateWebhook({ id: channel.id, body }) : api.createWebhook({ body });
    },
    async onSuccess(saved) {
      await queries.invalidateQueries({ queryKey: channelsQuery(api, organizationId).queryKey });
      void queries.invalidateQueries({ queryKey: [organizationId, 'activities'] });
      onSaved?.(saved);
      if (saved.signingSecret !== undefined) return;
      notifySuccess(`Saved channel ${saved.name}`);
      onClose();
    },
  });
  const secret = save.data?.signingSecret;
  const error = save.error instanceof ApiError && save.error.status === 401 ? undefined : save.error;
  const title = channel ? `Edit channel ${channel.name}` : 'New channel';
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    event.stopPropagation();
    save.mutate();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={secret === undefined ? title : `Signing secret of ${save.data?.name}`}
      withCloseButton={secret === undefined}
      closeOnClickOutside={false}
      closeOnEscape={secret === undefined}
    >
      {secret !== undefined ? (
        <SigningSecret secret={secret} onSaved={onClose} />
      ) : (
        <form onSubmit={submit} aria-label={title} noValidate>
          <Stack gap="md">
            <ChannelFields
              channel={channel}
              draft={draft}
              error={error}
              onChange={(part: Partial<ChannelDraft>) => {
                save.reset();
                setDraft((before) => ({ ...before, ...part }));
              }}
            />
            <FormEnd
              error={findOtherErrors(error, FIELDS)}
              submit={channel ? 'Save changes' : 'Create channel'}
              isPending={save.isPending}
              onCancel={onClose}
            />
          </Stack>
        </form>
      )}
    </Modal>
  );
}
