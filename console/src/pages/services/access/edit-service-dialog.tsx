import { Modal, Stack, TagsInput, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { findFieldError, findOtherErrors } from '../../../api/errors.ts';
import { instanceUpdateConstraints } from '../../../api/generated.ts';
import type { Service } from '../../../api/types.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { FormEnd } from '../../../parts/forms/form-end.tsx';
import { notifySuccess } from '../../../parts/messages/notifications.ts';
import { createServiceDraft, toServiceChange } from './service-draft.ts';

/** Edits the name, the IP access list and the tags. */
export function EditServiceDialog({ service, onClose }: { service: Service; onClose: () => void }) {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const [draft, setDraft] = useState(() => createServiceDraft(service));
  const save = useMutation({
    mutationFn: () =>
      api.instanceUpdate({ organizationId, serviceId: service.id, body: toServiceChange(service, draft) }),
    onSuccess: async (saved) => {
      await queries.invalidateQueries({ queryKey: [organizationId] });
      notifySuccess(`Saved service ${saved.name}`);
      onClose();
    },
  });
  const edit = (part: Partial<typeof draft>) => {
    save.reset();
    setDraft((before) => ({ ...before, ...part }));
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const general = findOtherErrors(save.error, ['name']);
  return (
    <Modal opened onClose={onClose} title="Edit service" size="lg">
      <form onSubmit={submit} aria-label="Edit service" noValidate>
        <Stack gap="md">
          <TextInput
            label="Name"
            maxLength={instanceUpdateConstraints.name.maxLength}
            value={draft.name}
            onChange={(event) => edit({ name: event.currentTarget.value })}
            error={findFieldError(save.error, 'name')}
            data-autofocus
          />
          <TagsInput
            label="IP access list"
            description="Addresses or ranges such as 10.0.0.0/8 that may connect. Leave empty to allow any address."
            value={draft.addresses}
            onChange={(addresses) => edit({ addresses })}
            acceptValueOnBlur
          />
          <TagsInput
            label="Tags"
            description="key or key=value"
            value={draft.tags}
            onChange={(tags) => edit({ tags })}
            acceptValueOnBlur
          />
          <FormEnd error={general} submit="Save" isPending={save.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Modal>
  );
}
