import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { Key } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { notifySuccess } from '../../parts/notifications.ts';

export type KeyAction = 'enable' | 'disable' | 'delete' | 'rotate';
type ConfirmedAction = Exclude<KeyAction, 'rotate'>;

const TEXTS: Record<ConfirmedAction, { title: string; action: string; effect: string; done: string }> = {
  enable: {
    title: 'Enable this key?',
    action: 'Enable',
    effect: 'It works again from the next request on.',
    done: 'works again',
  },
  disable: {
    title: 'Disable this key?',
    action: 'Disable',
    effect: 'It is refused from the very next request. You can enable it again.',
    done: 'is disabled',
  },
  delete: {
    title: 'Delete this key?',
    action: 'Delete',
    effect: 'It is refused from the very next request, and cannot be brought back.',
    done: 'is deleted',
  },
};

/** Names the key before anything happens to it. */
export function KeyActionDialog({ of: key, act, onClose }: { of: Key; act: KeyAction; onClose: () => void }) {
  const api = useApi();
  const { organizationId, credential } = useSession();
  const queries = useQueryClient();
  if (act === 'rotate') return null;
  const { title, action, effect: follows, done } = TEXTS[act];
  const isOwn = key.id === credential.id;
  const perform = async () => {
    const at = { organizationId, keyId: key.id };
    if (act === 'delete') await api.openapiKeyDelete(at);
    else await api.openapiKeyUpdate({ ...at, body: { state: act === 'enable' ? 'enabled' : 'disabled' } });
    notifySuccess(`${key.name} (…${key.keySuffix}) ${done}`);
    // Of one's own key nothing more can be asked after this.
    void queries.invalidateQueries({ queryKey: [organizationId] });
  };
  return (
    <ConfirmDialog
      opened
      title={title}
      action={action}
      isDangerous={act !== 'enable'}
      onConfirm={perform}
      onClose={onClose}
    >
      <Text>
        <b>{key.name}</b>, ending in <b>{key.keySuffix}</b>, with the roles {key.roles.join(', ')}.
      </Text>
      <Text mt="xs" c="dimmed" size="sm">
        {follows}
      </Text>
      {isOwn && act !== 'enable' && (
        <Text mt="xs" size="sm" c="var(--ph-bad)" fw={600}>
          This is the key you are signed in with: you will be signed out.
        </Text>
      )}
    </ConfirmDialog>
  );
}
