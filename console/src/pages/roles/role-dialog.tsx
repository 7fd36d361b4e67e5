import { Button, Group, Modal, MultiSelect, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { ApiError, findFieldError, findOtherErrors } from '../../api/errors.ts';
import { organizationRolePostConstraints } from '../../api/generated.ts';
import { keysQuery } from '../../api/queries.ts';
import type { Role } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { PolicyFields } from './policy-fields.tsx';
import {
  createPolicyDraft,
  createRoleDraft,
  type PolicyDraft,
  type RoleDraft,
  toChangeBody,
  toRequestBody,
  toRoleDraft,
} from './role-draft.ts';

const FIELDS = ['name', 'actors', 'policies'];

interface Props {
  /** Undefined for a new role. */
  target: Role | undefined;
  roles: readonly Role[];
  onClose: () => void;
}

/** Creates or changes a custom role. */
export function RoleDialog({ target, roles, onClose }: Props) {
  const api = useApi();
  const { organizationId, can } = useSession();
  const queries = useQueryClient();
  const { data: keys = [] } = useQuery({ ...keysQuery(api, organizationId), enabled: can('openapiKeyGetList') });
  const [draft, setDraft] = useState<RoleDraft>(() => (target ? toRoleDraft(target) : createRoleDraft()));
  const save = useMutation({
    mutationFn() {
      return target
        ? api.organizationRolePatch({
            organizationId,
            roleId: target.id,
            body: toChangeBody(draft, organizationId),
          })
        : api.organizationRolePost({ organizationId, body: toRequestBody(draft, organizationId) });
    },
    onSuccess({ name }) {
      notifySuccess(target ? `Saved role ${name}` : `Created role ${name}`);
      // Not awaited: after changing the role of this session, the requests may fail.
      void queries.invalidateQueries({ queryKey: [organizationId] });
      onClose();
    },
  });
  const edit = (part: Partial<RoleDraft>) => {
    save.reset();
    setDraft((before) => ({ ...before, ...part }));
  };
  const editPolicy = (row: number, part: Partial<PolicyDraft>) =>
    edit({ policies: draft.policies.map((policy) => (policy.row === row ? { ...policy, ...part } : policy)) });
  const addPolicy = () =>
    edit({
      policies: [...draft.policies, createPolicyDraft(Math.max(-1, ...draft.policies.map(({ row }) => row)) + 1)],
    });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const error = save.error instanceof ApiError && save.error.status === 401 ? undefined : save.error;
  const general = findOtherErrors(error, FIELDS);
  const title = target ? `Edit role ${target.name}` : 'Create role';
  const keyNames = new Map(keys.map(({ id, name, keySuffix }) => [id, `${name} (…${keySuffix})`]));

  return (
    <Modal opened onClose={onClose} size="lg" title={title} closeOnClickOutside={false}>
      <form onSubmit={submit} aria-label={title} noValidate>
        <Stack gap="md">
          <TextInput
            label="Name"
            maxLength={organizationRolePostConstraints.name.maxLength}
            data-autofocus
            value={draft.name}
            onChange={(event) => edit({ name: event.currentTarget.value })}
            error={findFieldError(error, 'name')}
          />
          {draft.policies.map((policy, index) => (
            <PolicyFields
              key={policy.row}
              index={index}
              policy={policy}
              roles={roles}
              onChange={(part) => editPolicy(policy.row, part)}
              onRemove={() => edit({ policies: draft.policies.filter(({ row }) => row !== policy.row) })}
              error={error}
            />
          ))}
          <Group>
            <Button variant="default" size="xs" onClick={addPolicy}>
              Add policy
            </Button>
          </Group>
          <MultiSelect
            label="Keys"
            description="The keys that have this role"
            searchable
            data={[...new Set([...keyNames.keys(), ...draft.keyIds])].map((id) => ({
              value: id,
              label: keyNames.get(id) ?? id,
            }))}
            value={draft.keyIds}
            onChange={(keyIds) => edit({ keyIds })}
            error={findFieldError(error, 'actors')}
          />
          <FormEnd
            error={general}
            submit={target ? 'Save changes' : 'Create role'}
            isPending={save.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}
