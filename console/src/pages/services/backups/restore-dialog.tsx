import { Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { findFieldError, findOtherErrors } from '../../../api/errors.ts';
import { instanceCreateConstraints } from '../../../api/generated.ts';
import type { NewService, Service } from '../../../api/types.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { Timestamp } from '../../../parts/format/timestamp.tsx';
import { FormEnd } from '../../../parts/forms/form-end.tsx';
import { handOverPassword } from '../creation/new-password.ts';

interface Props {
  service: Service;
  backup: { id: string; startedAt: string };
  onClose(): void;
}

/** Creates a service with the data of a backup; its page then shows the password once, and the progress. */
export function RestoreDialog({ service, backup, onClose }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const { provider = 'aws', region = 'us-east-1' } = service as Partial<Pick<NewService, 'provider' | 'region'>>;
  const restore = useMutation({
    mutationFn: () =>
      api.instanceCreate({ organizationId, body: { name: name.trim(), provider, region, backupId: backup.id } }),
    onSuccess: async ({ service: created, password }) => {
      if (password !== undefined) handOverPassword(queries, organizationId, created.id, password);
      void queries.invalidateQueries({ queryKey: [organizationId, 'services'] });
      await navigate({ to: '/services/$id', params: { id: created.id } });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    restore.mutate();
  };
  return (
    <Modal opened onClose={onClose} title="Restore into a new service" closeOnClickOutside={false}>
      <form onSubmit={submit} aria-label="Restore into a new service" noValidate>
        <Stack gap="md">
          <Text size="sm">
            The new service gets the data of {service.name} of <Timestamp at={backup.startedAt} />. {service.name} stays
            as it is.
          </Text>
          <TextInput
            label="Name"
            maxLength={instanceCreateConstraints.name.maxLength}
            value={name}
            onChange={(event) => {
              restore.reset();
              setName(event.currentTarget.value);
            }}
            error={findFieldError(restore.error, 'name')}
            data-autofocus
          />
          <FormEnd
            error={findOtherErrors(restore.error, ['name'])}
            submit="Restore"
            isPending={restore.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}
