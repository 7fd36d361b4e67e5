import { Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { formatError } from '../../api/errors.ts';
import type { Key } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { Note } from '../../parts/note.tsx';
import { notifyError, notifySuccess } from '../../parts/notifications.ts';
import { createKey } from './create-key.ts';
import { createSuccessor } from './key-draft.ts';
import { KeySecret } from './key-secret.tsx';

/** Creates a key with the same settings. The old key is disabled only after the new secret is saved. */
export function RotateKeyDialog({ target: key, onClose }: { target: Key; onClose: () => void }) {
  const api = useApi();
  const { organizationId, credential } = useSession();
  const queries = useQueryClient();
  const isOwn = key.id === credential.id;
  const [isOldDisabled, setIsOldDisabled] = useState(!isOwn);
  const rotate = useMutation({
    mutationFn: () => createKey(api, organizationId, createSuccessor(key, new Date()), false),
    onSuccess: () => queries.invalidateQueries({ queryKey: [organizationId] }),
  });
  const finish = async () => {
    onClose();
    try {
      if (isOldDisabled) await api.openapiKeyUpdate({ organizationId, keyId: key.id, body: { state: 'disabled' } });
      notifySuccess(
        isOldDisabled
          ? `Rotated ${key.name}. The old key (…${key.keySuffix}) is disabled.`
          : `Rotated ${key.name}. The old key (…${key.keySuffix}) still works.`,
      );
    } catch (error) {
      notifyError(`Could not disable the old key (…${key.keySuffix})`, error);
    }
    await queries.invalidateQueries({ queryKey: [organizationId] });
  };
  const created = rotate.data;
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={created ? `New key ${key.name}` : 'Rotate this key?'}
      withCloseButton={!created}
      closeOnClickOutside={!created}
      closeOnEscape={!created}
    >
      {created ? (
        <KeySecret
          name={key.name}
          keyId={created.keyId}
          keySecret={created.keySecret}
          isHashed={false}
          onSaved={finish}
        />
      ) : (
        <Stack gap="md">
          <Text style={{ overflowWrap: 'anywhere' }}>
            This creates a new key with the same name, roles{key.expireAt === null ? '' : ', lifetime'} and IP access
            list as <b>{key.name}</b> (…{key.keySuffix}).
          </Text>
          <Checkbox
            label="Disable the old key after I save the new secret"
            description={
              isOwn
                ? 'You are signed in with this key and will be signed out'
                : 'Otherwise both keys work until you disable the old one'
            }
            checked={isOldDisabled}
            onChange={(event) => setIsOldDisabled(event.currentTarget.checked)}
          />
          {rotate.error && <Note tone="bad">{formatError(rotate.error)}</Note>}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose} data-autofocus>
              Cancel
            </Button>
            <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
              Rotate
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
