import { useQueryClient } from '@tanstack/react-query';
import type { Member } from '../../api/types.ts';
import { useApi, useDependencies, useSession } from '../../app/context.tsx';
import { openPage } from '../../app/open-page.ts';
import { ConfirmDialog } from '../../parts/forms/confirm-dialog.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';

/** Removes a member, or leaves the organization. */
export function RemoveMemberDialog({ target: member, onClose }: { target: Member; onClose: () => void }) {
  const api = useApi();
  const { base } = useDependencies();
  const { organizationId, organization, credential } = useSession();
  const queries = useQueryClient();
  const isSelf = member.userId === credential.id;
  const remove = async () => {
    await api.memberDelete({ organizationId, userId: member.userId });
    if (isSelf) return openPage(base, '/');
    notifySuccess(`Removed ${member.name}`);
    await queries.invalidateQueries({ queryKey: [organizationId] });
  };
  return (
    <ConfirmDialog
      opened
      isDangerous
      title={isSelf ? 'Leave the organization?' : 'Remove this member?'}
      action={isSelf ? 'Leave' : 'Remove'}
      onConfirm={remove}
      onClose={onClose}
    >
      {isSelf ? (
        <>
          You lose access to <b>{organization.name}</b> immediately. To come back, you need an invitation.
        </>
      ) : (
        <>
          <b>{member.name}</b> loses access immediately. Keys and other things that this member created stay.
        </>
      )}
    </ConfirmDialog>
  );
}
