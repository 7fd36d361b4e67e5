import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Member } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { useDialogInUrl } from '../../app/use-dialog-in-url.ts';
import { plural } from '../../parts/format/format.ts';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { PlusIcon } from '../../parts/layout/icons.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { InvitationsPanel } from './invitations-panel.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { MemberRolesDialog } from './member-roles-dialog.tsx';
import { MemberSessionsDialog } from './member-sessions-dialog.tsx';
import { type MemberAction, MemberTable } from './member-table.tsx';
import { membersQuery } from './queries.ts';
import { RemoveMemberDialog } from './remove-member-dialog.tsx';

/** The people of the organization, and invitations that are still open. */
export function MembersPage() {
  const api = useApi();
  const { organizationId, can } = useSession();
  const { data, error, refetch } = useQuery(membersQuery(api, organizationId));
  const [isInviting, setIsInviting] = useDialogInUrl('create');
  const [chosen, setChosen] = useState<{ target: Member; action: MemberAction }>();
  const invite = can('invitationCreate') && (
    <Button leftSection={<PlusIcon size={16} />} onClick={() => setIsInviting(true)}>
      Invite member
    </Button>
  );
  return (
    <Page title="Members" subtitle={data ? plural(data.length, 'member') : 'Loading…'} actions={invite}>
      {error && !data ? (
        <ErrorNotice error={error} title="Could not load members" retry={() => refetch()} />
      ) : (
        <Panel flush>
          {data?.length === 0 ? (
            <EmptyState title="No members yet" action={invite}>
              Invite people to sign in with their own account, with the roles you choose.
            </EmptyState>
          ) : (
            <MemberTable members={data} onAction={(target, action) => setChosen({ target, action })} />
          )}
        </Panel>
      )}
      {can('invitationGetList') && <InvitationsPanel />}
      {isInviting && can('invitationCreate') && <InviteDialog onClose={() => setIsInviting(false)} />}
      {chosen && <ChosenDialog {...chosen} onClose={() => setChosen(undefined)} />}
    </Page>
  );
}

function ChosenDialog({ target, action, onClose }: { target: Member; action: MemberAction; onClose: () => void }) {
  if (action === 'roles') return <MemberRolesDialog target={target} onClose={onClose} />;
  if (action === 'sessions') return <MemberSessionsDialog target={target} onClose={onClose} />;
  return <RemoveMemberDialog target={target} onClose={onClose} />;
}
