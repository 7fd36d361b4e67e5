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

/** A new key like the old one; the old one goes only after the new secret is saved. */
export function RotateKeyDialog({ of: key, onClose }: { of: Key; onClose: () => void }) {
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
          ? `${key.name} is rotated; …${key.keySuffix} is disabled`
          : `${key.name} has a successor; …${key.keySuffix} still works`,
      );
    } catch (error) {
      notifyError(`…${key.keySuffix} could not be disabled`, error);
    }
    await queries.invalidateQueries({ queryKey: [organizationId] });
  };
  const created = rotate.data;
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={created ? `The new key ${key.name}` : 'Rotate this key?'}
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
            <b>{key.name}</b>, ending in <b>{key.keySuffix}</b>, gets a successor with the same name, roles and
            addresses
            {key.expireAt === null ? '' : ', good for as long as the old one was'}.
          </Text>
          <Checkbox
            label="Disable the old key once the new secret is saved"
            description={
              isOwn ? 'You are signed in with it: you would be signed out' : 'Otherwise both work until you disable it'
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
