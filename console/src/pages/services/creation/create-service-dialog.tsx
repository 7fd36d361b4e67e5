import { Modal, Select, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { findFieldError, findOtherErrors } from '../../../api/errors.ts';
import { instanceCreateConstraints } from '../../../api/generated.ts';
import { newServicePreviewQuery } from '../../../api/service-settings.ts';
import type { NewService } from '../../../api/types.ts';
import { useApi, useConfig, useSession } from '../../../app/context.tsx';
import { FormEnd } from '../../../parts/forms/form-end.tsx';
import { DRIVER_LABELS } from '../../../parts/services/service-status.ts';
import {
  SCALING_FIELDS,
  type ScalingDraft,
  toScalingChange,
  toScalingDraft,
  validateScaling,
} from '../scaling/scaling-draft.ts';
import { NEW_SERVICE, resolveLimits } from '../scaling/scaling-limits.ts';
import { handOverPassword } from './new-password.ts';
import { NewServiceCost } from './new-service-cost.tsx';
import { NewServiceSize } from './new-service-size.tsx';

const { name: nameLimits, provider: providers, region: regions } = instanceCreateConstraints;
const FIELDS = ['name', 'provider', 'region', 'driver', ...SCALING_FIELDS];

/** The others need settings that only the fleet file has. */
const CHOICES = ['simulated', 'embedded'] as const;

type Basics = Pick<NewService, 'name' | 'provider' | 'region' | 'driver'>;

/** Then the page of the new service opens and shows the password once. Default sizes and the cost come from the server. */
export function CreateServiceDialog({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const { organizationId, organization } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { defaultDriver } = useConfig();
  const [basics, setBasics] = useState<Basics>({
    name: '',
    provider: 'aws',
    region: 'us-east-1',
    driver: defaultDriver,
  });
  const [edited, setEdited] = useState<Partial<ScalingDraft>>({});
  const { name, ...place } = basics;
  // Without sizes and with a place that always exists: the defaults do not depend on it.
  const { data: defaults } = useQuery(
    newServicePreviewQuery(api, organizationId, { provider: 'aws', region: 'us-east-1' }),
  );
  const limits = resolveLimits(NEW_SERVICE, organization);
  const draft = defaults && { ...toScalingDraft(defaults), ...edited };
  const change = defaults && draft ? toScalingChange(defaults, draft) : {};
  const errors = defaults && draft ? validateScaling(defaults, draft, limits) : {};
  const isValid = Object.keys(errors).length === 0;

  const create = useMutation({
    mutationFn: () => api.instanceCreate({ organizationId, body: { ...place, ...change, name: name.trim() } }),
    onSuccess: async ({ service, password }) => {
      if (password !== undefined) handOverPassword(queries, organizationId, service.id, password);
      void queries.invalidateQueries({ queryKey: [organizationId, 'services'] });
      await navigate({ to: '/services/$id', params: { id: service.id } });
    },
  });
  const edit = (part: Partial<Basics>) => {
    create.reset();
    setBasics((before) => ({ ...before, ...part }));
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (isValid) create.mutate();
  };
  const { error } = create;
  const errorAt = (field: string) => findFieldError(error, field);
  return (
    <Modal opened onClose={onClose} title="Create service" size="lg" closeOnClickOutside={false}>
      <form onSubmit={submit} aria-label="Create service" noValidate>
        <Stack gap="md">
          <TextInput
            label="Name"
            maxLength={nameLimits.maxLength}
            value={name}
            onChange={(event) => edit({ name: event.currentTarget.value })}
            error={errorAt('name')}
            data-autofocus
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <Select
              label="Provider"
              data={[...providers.values]}
              value={basics.provider}
              allowDeselect={false}
              onChange={(provider) => edit({ provider: provider as Basics['provider'] })}
              error={errorAt('provider')}
            />
            <Select
              label="Region"
              data={[...regions.values]}
              value={basics.region}
              searchable
              allowDeselect={false}
              onChange={(region) => edit({ region: region as Basics['region'] })}
              error={errorAt('region')}
            />
          </SimpleGrid>
          <Select
            label="Driver"
            description={DRIVER_LABELS[basics.driver ?? defaultDriver]}
            data={[...CHOICES]}
            value={basics.driver ?? defaultDriver}
            allowDeselect={false}
            onChange={(driver) => edit({ driver: driver as Basics['driver'] })}
            error={errorAt('driver')}
          />
          <NewServiceSize
            draft={draft}
            limits={limits}
            isOneReplica={basics.driver === 'embedded'}
            onChange={(part) => {
              create.reset();
              setEdited((before) => ({ ...before, ...part }));
            }}
            errorAt={(field) => errors[field] ?? errorAt(field)}
          />
          <NewServiceCost body={{ ...place, ...change }} isValid={isValid} />
          <FormEnd
            error={findOtherErrors(error, FIELDS)}
            submit="Create service"
            isPending={create.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}
