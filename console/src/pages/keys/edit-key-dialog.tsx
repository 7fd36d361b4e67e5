import { Modal, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { ApiError, findFieldError, findOtherErrors } from '../../api/errors.ts';
import type { Key, KeyChange } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { filledAddresses, KEY_FIELDS, type KeyDraft, toKeyDraft, toUpdateBody, validateDraft } from './key-draft.ts';
import { KeyFields } from './key-fields.tsx';

/** Changes the settings of a key. Its credentials stay the same. */
export function EditKeyDialog({ target: key, onClose }: { target: Key; onClose: () => void }) {
  const api = useApi();
  const { organizationId, credential } = useSession();
  const queries = useQueryClient();
  const [draft, setDraft] = useState<KeyDraft>(() => toKeyDraft(key));
  const [wasSubmitted, setWasSubmitted] = useState(false);
  const errors = validateDraft(draft, new Date());
  const save = useMutation({
    mutationFn: (body: KeyChange) => api.openapiKeyUpdate({ organizationId, keyId: key.id, body }),
    onSuccess({ name }) {
      notifySuccess(`Saved key ${name} (…${key.keySuffix})`);
      // Not awaited: after changing the key of this session, the requests may fail.
      void queries.invalidateQueries({ queryKey: [organizationId] });
      onClose();
    },
  });
  const edit = (part: Partial<KeyDraft>) => {
    save.reset();
    setDraft((before) => ({ ...before, ...part }));
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setWasSubmitted(true);
    // Drop empty rows, so that the row numbers in server errors match the form.
    setDraft({ ...draft, addresses: filledAddresses(draft) });
    if (Object.keys(errors).length > 0) return;
    const body = toUpdateBody(draft, key, new Date());
    if (Object.keys(body).length === 0) onClose();
    else save.mutate(body);
  };
  const error = save.error instanceof ApiError && save.error.status === 401 ? undefined : save.error;
  const errorAt = (field: 'roles' | 'expireAt') =>
    (wasSubmitted ? errors[field] : undefined) ?? findFieldError(error, field);
  const general = findOtherErrors(error, KEY_FIELDS);

  return (
    <Modal opened onClose={onClose} size="lg" title={`Edit key ${key.name}`} closeOnClickOutside={false}>
      <form onSubmit={submit} aria-label={`Edit key ${key.name}`} noValidate>
        <Stack gap="md">
          {key.id === credential.id && (
            <Note tone="warn">
              <Text size="sm">You are signed in with this key. A new IP access list ends your session.</Text>
            </Note>
          )}
          <KeyFields draft={draft} onChange={edit} current={key.expireAt} errorAt={errorAt} error={error} />
          <FormEnd error={general} submit="Save changes" isPending={save.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Modal>
  );
}
