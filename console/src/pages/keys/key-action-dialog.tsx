import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { Key } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { ConfirmDialog } from '../../parts/forms/confirm-dialog.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { formatRoles } from './key-draft.ts';

export type KeyAction = 'edit' | 'enable' | 'disable' | 'delete' | 'rotate';
type ConfirmedAction = Exclude<KeyAction, 'rotate' | 'edit'>;

const TEXTS: Record<ConfirmedAction, { title: string; action: string; effect: string; done: string }> = {
  enable: {
    title: 'Enable this key?',
    action: 'Enable',
    effect: 'Requests with this key are accepted again immediately.',
    done: 'enabled',
  },
  disable: {
    title: 'Disable this key?',
    action: 'Disable',
    effect: 'Requests with this key are rejected immediately. You can enable it again.',
    done: 'disabled',
  },
  delete: {
    title: 'Delete this key?',
    action: 'Delete',
    effect: 'Requests with this key are rejected immediately. This cannot be undone.',
    done: 'deleted',
  },
};

interface Props {
  target: Key;
  action: ConfirmedAction;
  onClose: () => void;
}

export function KeyActionDialog({ target: key, action: kind, onClose }: Props) {
  const api = useApi();
  const { organizationId, credential } = useSession();
  const queries = useQueryClient();
  const { title, action, effect, done } = TEXTS[kind];
  const isOwn = key.id === credential.id;
  const perform = async () => {
    const at = { organizationId, keyId: key.id };
    if (kind === 'delete') await api.openapiKeyDelete(at);
    else await api.openapiKeyUpdate({ ...at, body: { state: kind === 'enable' ? 'enabled' : 'disabled' } });
    notifySuccess(`Key ${key.name} (…${key.keySuffix}) ${done}`);
    // Not awaited: after changing the key of this session, the requests fail.
    void queries.invalidateQueries({ queryKey: [organizationId] });
  };
  return (
    <ConfirmDialog
      opened
      title={title}
      action={action}
      isDangerous={kind !== 'enable'}
      onConfirm={perform}
      onClose={onClose}
    >
      <Text>
        <b>{key.name}</b> (…{key.keySuffix}), {key.assignedRoles.length === 1 ? 'role' : 'roles'}: {formatRoles(key)}
      </Text>
      <Text mt="xs" c="dimmed" size="sm">
        {effect}
      </Text>
      {isOwn && kind !== 'enable' && (
        <Text mt="xs" size="sm" c="var(--ph-bad)" fw={600}>
          You are signed in with this key, so you will be signed out.
        </Text>
      )}
    </ConfirmDialog>
  );
}
