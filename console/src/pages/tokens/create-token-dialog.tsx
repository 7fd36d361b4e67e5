import { Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useApi, useSession } from '../../app/context.tsx';
import { CopyTextButton } from '../../parts/forms/copy-button.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { SavedConfirmation } from '../../parts/forms/saved-confirmation.tsx';
import { SecretDialog } from '../../parts/forms/secret-dialog.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { createTokenDraft, type TokenDraft, toCreateBody } from './token-draft.ts';
import { TokenFields } from './token-fields.tsx';
import classes from './tokens.module.css';
import { useTokenForm, useTokenRefresh } from './use-token-form.ts';

/** The form, then the token. While it is shown, the dialog closes only through its button, so that it is not lost by accident. */
export function CreateTokenDialog({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const { organizationId } = useSession();
  const refresh = useTokenRefresh();
  const create = useMutation({
    mutationFn: (draft: TokenDraft) =>
      api.dashboardTokenCreate({ organizationId, body: toCreateBody(draft, new Date()) }),
    onSuccess: refresh,
  });
  const { fields, general, submit } = useTokenForm(createTokenDraft(), create);
  const created = create.data;
  return (
    <SecretDialog
      title={created ? 'Dashboard token created' : 'Create dashboard token'}
      hasSecret={created !== undefined}
      onClose={onClose}
    >
      {created ? (
        <Stack gap="md">
          <Note tone="warn">
            <Text size="sm">This token is shown only once. The server stores only a hash.</Text>
          </Note>
          <code className={classes.secret} data-testid="token-secret">
            {created.token}
          </code>
          <Group>
            <CopyTextButton value={created.token ?? ''}>Copy token</CopyTextButton>
          </Group>
          <SavedConfirmation
            onSaved={() => {
              notifySuccess(`Created token ${created.dashboardToken.name}`);
              onClose();
            }}
          />
        </Stack>
      ) : (
        <form onSubmit={submit} aria-label="Create dashboard token" noValidate>
          <Stack gap="md">
            <TokenFields {...fields} />
            <FormEnd error={general} submit="Create token" isPending={create.isPending} onCancel={onClose} />
          </Stack>
        </form>
      )}
    </SecretDialog>
  );
}
