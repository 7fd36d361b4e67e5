import { Modal, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { findFieldError, findOtherErrors } from '../../api/errors.ts';
import type { Member } from '../../api/types.ts';
import { useApi, useDependencies, useSession } from '../../app/context.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { RoleFields } from '../../parts/forms/role-fields.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';

/** Changes the assigned roles of a member. Those of the member rules stay. */
export function MemberRolesDialog({ target: member, onClose }: { target: Member; onClose: () => void }) {
  const api = useApi();
  const { sessions } = useDependencies();
  const { organizationId, credential } = useSession();
  const queries = useQueryClient();
  const [roleIds, setRoleIds] = useState(() => member.assignedRoles.map(({ roleId }) => roleId));
  const save = useMutation({
    mutationFn: () => api.memberUpdate({ organizationId, userId: member.userId, body: { assignedRoleIds: roleIds } }),
    async onSuccess() {
      notifySuccess(`Changed the roles of ${member.name}`);
      // The pages and actions that the own roles allow.
      if (member.userId === credential.id) await sessions.renew();
      void queries.invalidateQueries({ queryKey: [organizationId] });
      onClose();
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const title = `Roles of ${member.name}`;
  return (
    <Modal opened onClose={onClose} title={title} closeOnClickOutside={false}>
      <form onSubmit={submit} aria-label={title} noValidate>
        <Stack gap="md">
          <RoleFields
            roleIds={roleIds}
            onChange={(ids) => {
              save.reset();
              setRoleIds(ids);
            }}
            error={findFieldError(save.error, 'assignedRoleIds')}
            fixedIds={member.roleIdsByRules}
          />
          <FormEnd
            error={findOtherErrors(save.error, ['assignedRoleIds'])}
            submit="Save changes"
            isPending={save.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}
