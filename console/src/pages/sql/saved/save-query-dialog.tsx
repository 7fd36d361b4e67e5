import { Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { findFieldError, findOtherErrors } from '../../../api/errors.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { FormEnd } from '../../../parts/forms/form-end.tsx';
import { notifySuccess } from '../../../parts/messages/notifications.ts';
import { type SavedQuery, savedQueriesQuery } from '../queries.ts';

export type Draft = Pick<SavedQuery, 'sql' | 'database' | 'parameters'>;

interface Props {
  serviceId: string;
  draft: Draft;
  /** Its name is changed; without it, the draft is saved as a new one. */
  saved?: SavedQuery;
  onClose: () => void;
}

export function SaveQueryDialog({ serviceId, draft, saved, onClose }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const [name, setName] = useState(saved?.name ?? '');
  const { sql, database, parameters } = draft;
  const save = useMutation({
    mutationFn: () => {
      const body = { name, sql, database, parameters };
      return saved
        ? api.savedQueryUpdate({ organizationId, serviceId, queryId: saved.id, body })
        : api.savedQueryCreate({ organizationId, serviceId, body });
    },
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: savedQueriesQuery(api, organizationId, serviceId).queryKey });
      notifySuccess(`Saved the query ${name}`);
      onClose();
    },
  });
  const title = saved ? 'Rename query' : 'Save query';
  return (
    <Modal opened onClose={onClose} title={title} centered>
      <form
        aria-label={title}
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap="md">
          {!saved && (
            <Text size="sm" c="dimmed">
              All members of the organization who may read this service see it.
            </Text>
          )}
          <TextInput
            label="Name"
            required
            data-autofocus
            maxLength={255}
            value={name}
            error={findFieldError(save.error, 'name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <FormEnd
            error={findOtherErrors(save.error, ['name'])}
            submit="Save"
            isPending={save.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}
