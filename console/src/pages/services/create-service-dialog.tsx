import { Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { findFieldError, findOtherErrors } from '../../api/errors.ts';
import { instanceCreateConstraints } from '../../api/generated.ts';
import type { NewService } from '../../api/types.ts';
import { useApi, useConfig, useSession } from '../../app/context.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { notifySuccess } from '../../parts/notifications.ts';
import { DRIVER_LABELS } from '../../parts/service-status.ts';
import { ServicePassword } from './service-password.tsx';

const { name: nameLimits, provider: providers, region: regions } = instanceCreateConstraints;
const FIELDS = ['name', 'provider', 'region', 'driver'];

/** The others need settings that only the fleet file has. */
const CHOICES = ['simulated', 'embedded'] as const;

/** The form, then the password. Sizes have defaults and are changed on the page of the service. */
export function CreateServiceDialog({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const { defaultDriver } = useConfig();
  const [body, setBody] = useState<NewService>({
    name: '',
    provider: 'aws',
    region: 'us-east-1',
    driver: defaultDriver,
  });
  const create = useMutation({
    mutationFn: () => api.instanceCreate({ organizationId, body: { ...body, name: body.name.trim() } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [organizationId] }),
  });
  const edit = (part: Partial<NewService>) => {
    create.reset();
    setBody((before) => ({ ...before, ...part }));
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    create.mutate();
  };
  const { data: created, error } = create;
  const general = findOtherErrors(error, FIELDS);
  return (
    <Modal
      opened
      onClose={onClose}
      title={created ? 'Service created' : 'Create service'}
      withCloseButton={!created}
      closeOnClickOutside={false}
      closeOnEscape={!created}
    >
      {created ? (
        <ServicePassword
          password={created.password ?? ''}
          onSaved={() => {
            notifySuccess(`Created service ${created.service.name}`);
            onClose();
          }}
        />
      ) : (
        <form onSubmit={submit} aria-label="Create service" noValidate>
          <Stack gap="md">
            <TextInput
              label="Name"
              maxLength={nameLimits.maxLength}
              value={body.name}
              onChange={(event) => edit({ name: event.currentTarget.value })}
              error={findFieldError(error, 'name')}
              data-autofocus
            />
            <Select
              label="Provider"
              data={[...providers.values]}
              value={body.provider}
              allowDeselect={false}
              onChange={(provider) => edit({ provider: provider as NewService['provider'] })}
              error={findFieldError(error, 'provider')}
            />
            <Select
              label="Region"
              data={[...regions.values]}
              value={body.region}
              searchable
              allowDeselect={false}
              onChange={(region) => edit({ region: region as NewService['region'] })}
              error={findFieldError(error, 'region')}
            />
            <Select
              label="Driver"
              description={DRIVER_LABELS[body.driver ?? defaultDriver]}
              data={[...CHOICES]}
              value={body.driver ?? defaultDriver}
              allowDeselect={false}
              onChange={(driver) => edit({ driver: driver as NewService['driver'] })}
              error={findFieldError(error, 'driver')}
            />
            <Text size="sm" c="dimmed">
              The service starts with the default size.
            </Text>
            <FormEnd error={general} submit="Create service" isPending={create.isPending} onCancel={onClose} />
          </Stack>
        </form>
      )}
    </Modal>
  );
}
