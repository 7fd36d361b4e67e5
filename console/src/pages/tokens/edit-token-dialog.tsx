import { Modal, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { Token } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { type TokenDraft, toTokenDraft, toUpdateBody } from './token-draft.ts';
import { TokenFields } from './token-fields.tsx';
import { useTokenForm, useTokenRefresh } from './use-token-form.ts';

/** Changes the settings of a token. The token itself stays the same. */
export function EditTokenDialog({ target: token, onClose }: { target: Token; onClose: () => void }) {
  const api = useApi();
  const { organizationId } = useSession();
  const refresh = useTokenRefresh();
  const save = useMutation({
    mutationFn: (draft: TokenDraft) =>
      api.dashboardTokenUpdate({ organizationId, tokenId: token.id, body: toUpdateBody(draft, token, new Date()) }),
    onSuccess({ name }) {
      notifySuccess(`Saved token ${name} (…${token.tokenSuffix})`);
      refresh();
      onClose();
    },
  });
  const { fields, general, submit } = useTokenForm(toTokenDraft(token), save);
  return (
    <Modal opened onClose={onClose} size="lg" title={`Edit token ${token.name}`} closeOnClickOutside={false}>
      <form onSubmit={submit} aria-label={`Edit token ${token.name}`} noValidate>
        <Stack gap="md">
          <TokenFields {...fields} current={token.expireAt} />
          <FormEnd error={general} submit="Save changes" isPending={save.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Modal>
  );
}
