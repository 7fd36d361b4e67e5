import { Button, Checkbox, Group, Select, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { formatError } from '../../api/errors.ts';
import type { Key } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { formatTime } from '../../parts/format/format.ts';
import { SecretDialog } from '../../parts/forms/secret-dialog.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { canHash } from './browser-credentials.ts';
import { KeySecret } from './key-secret.tsx';
import { rotateKey } from './rotate-key.ts';

const GRACE_PERIODS = [
  { value: '0', label: 'None: the old key stops working now' },
  { value: '1', label: '1 hour' },
  { value: '24', label: '24 hours' },
  { value: '72', label: '3 days' },
  { value: '168', label: '7 days' },
];
const DEFAULT_GRACE_HOURS = '24';

/** Creates a key with the same settings. The old key keeps working for the grace period. */
export function RotateKeyDialog({ target: key, onClose }: { target: Key; onClose: () => void }) {
  const api = useApi();
  const { organizationId, credential } = useSession();
  const queries = useQueryClient();
  const isOwn = key.id === credential.id;
  const [graceHours, setGraceHours] = useState(DEFAULT_GRACE_HOURS);
  const [isHashed, setIsHashed] = useState(false);
  const rotate = useMutation({
    mutationFn: () => rotateKey(api, organizationId, key, Number(graceHours), isHashed),
    // Not awaited: after rotating the key of this session without a grace period, the requests fail.
    onSuccess: () => void queries.invalidateQueries({ queryKey: [organizationId] }),
  });
  const rotated = rotate.data;
  const finish = () => {
    onClose();
    if (!rotated) return;
    const end = rotated.expiresAt === null ? '' : ` works until ${formatTime(new Date(rotated.expiresAt))}`;
    const rest = graceHours === '0' ? ' no longer works' : end;
    notifySuccess(`Rotated ${key.name}. The old key (…${key.keySuffix})${rest}.`);
  };
  return (
    <SecretDialog
      title={rotated ? `New key ${key.name}` : 'Rotate this key?'}
      hasSecret={rotated !== undefined}
      onClose={onClose}
    >
      {rotated ? (
        <KeySecret
          name={key.name}
          keyId={rotated.keyId}
          keySecret={rotated.keySecret}
          isHashed={isHashed}
          onSaved={finish}
        />
      ) : (
        <Stack gap="md">
          <Text style={{ overflowWrap: 'anywhere' }}>
            This creates a new key with the same name, roles{key.expireAt === null ? '' : ', lifetime'} and IP access
            list as <b>{key.name}</b> (…{key.keySuffix}). The old key then expires.
          </Text>
          <Select
            label="Grace period"
            description="How long the old key keeps working, so that you can replace it everywhere"
            data={GRACE_PERIODS}
            allowDeselect={false}
            value={graceHours}
            onChange={(value) => setGraceHours(value ?? DEFAULT_GRACE_HOURS)}
          />
          <Checkbox
            label="Generate the secret in this browser"
            description={
              canHash() ? 'The server receives only hashes and never sees the secret' : 'Requires HTTPS or localhost'
            }
            disabled={!canHash()}
            checked={isHashed}
            onChange={(event) => setIsHashed(event.currentTarget.checked)}
          />
          {isOwn && (
            <Note tone="warn">
              <Text size="sm">
                You are signed in with this key. Your session ends {graceHours === '0' ? 'now' : 'with the old key'}.
              </Text>
            </Note>
          )}
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
    </SecretDialog>
  );
}
