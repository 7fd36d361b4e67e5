import { Checkbox, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { ApiError, findFieldError, findOtherErrors } from '../../api/errors.ts';
import type { NewKey } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { SecretDialog } from '../../parts/forms/secret-dialog.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { canHash } from './browser-credentials.ts';
import { createKey } from './create-key.ts';
import {
  createKeyDraft,
  filledAddresses,
  KEY_FIELDS,
  type KeyDraft,
  toRequestBody,
  validateDraft,
} from './key-draft.ts';
import { KeyFields } from './key-fields.tsx';
import { KeySecret } from './key-secret.tsx';

/** The form, then the secret. While the secret is shown, the dialog closes only through its button, so that it is not lost by accident. */
export function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const { organizationId } = useSession();
  const api = useApi();
  const queries = useQueryClient();
  const [draft, setDraft] = useState<KeyDraft>(createKeyDraft);
  const [wasSubmitted, setWasSubmitted] = useState(false);
  const errors = validateDraft(draft, new Date());
  const create = useMutation({
    mutationFn: (body: NewKey) => createKey(api, organizationId, body, draft.isHashed),
    onSuccess: () => queries.invalidateQueries({ queryKey: [organizationId] }),
  });
  const edit = (part: Partial<KeyDraft>) => {
    create.reset();
    setDraft((before) => ({ ...before, ...part }));
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setWasSubmitted(true);
    // Drop empty rows, so that the row numbers in server errors match the form.
    setDraft({ ...draft, addresses: filledAddresses(draft) });
    if (Object.keys(errors).length === 0) create.mutate(toRequestBody(draft, new Date()));
  };
  const created = create.data;
  const error = create.error instanceof ApiError && create.error.status === 401 ? undefined : create.error;
  const errorAt = (field: 'roles' | 'expireAt') =>
    (wasSubmitted ? errors[field] : undefined) ?? findFieldError(error, field);
  const general = findOtherErrors(error, KEY_FIELDS);

  return (
    <SecretDialog
      title={created ? 'API key created' : 'Create API key'}
      hasSecret={created !== undefined}
      onClose={onClose}
    >
      {created ? (
        <KeySecret
          name={created.key.name}
          keyId={created.keyId}
          keySecret={created.keySecret}
          isHashed={created.isHashed}
          onSaved={() => {
            notifySuccess(`Created key ${created.key.name}`);
            onClose();
          }}
        />
      ) : (
        <form onSubmit={submit} aria-label="Create API key" noValidate>
          <Stack gap="md">
            <KeyFields draft={draft} onChange={edit} errorAt={errorAt} error={error} />
            <Checkbox
              label="Generate the secret in this browser"
              description={
                canHash() ? 'The server receives only hashes and never sees the secret' : 'Requires HTTPS or localhost'
              }
              disabled={!canHash()}
              checked={draft.isHashed}
              onChange={(event) => edit({ isHashed: event.currentTarget.checked })}
            />
            <FormEnd error={general} submit="Create key" isPending={create.isPending} onCancel={onClose} />
          </Stack>
        </form>
      )}
    </SecretDialog>
  );
}
