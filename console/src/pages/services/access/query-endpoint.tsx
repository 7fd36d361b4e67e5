import { Button, Checkbox, Group, MultiSelect, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { ApiError, findFieldError, findOtherErrors } from '../../../api/errors.ts';
import {
  instanceQueryEndpointUpsertConstraints as constraints,
  type InstanceQueryEndpointGetResult,
  type InstanceQueryEndpointUpsertBody,
} from '../../../api/generated.ts';
import { keysQuery } from '../../../api/queries.ts';
import { queryEndpointQuery } from '../../../api/service-settings.ts';
import type { Service } from '../../../api/types.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { ConfirmDialog } from '../../../parts/forms/confirm-dialog.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { Note } from '../../../parts/layout/note.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import { notifySuccess } from '../../../parts/messages/notifications.ts';

type Role = InstanceQueryEndpointUpsertBody['roles'][number];

const ROLE_LABELS: Record<Role, string> = { sql_console_read_only: 'Read-only', sql_console_admin: 'Read and write' };
const FIELDS = ['roles', 'openApiKeys', 'allowedOrigins'];

/** Which keys may use the query endpoint. */
export function QueryEndpointPanel({ service }: { service: Service }) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, refetch } = useQuery(queryEndpointQuery(api, organizationId, service.id));
  return (
    <Panel title="Query endpoint">
      <Stack gap="md">
        {service.driver !== 'embedded' && (
          <Note tone="warn">
            <Text size="sm">
              These settings are stored only: query endpoints run queries of embedded services. Use the endpoint of the
              service.
            </Text>
          </Note>
        )}
        {data !== undefined ? (
          <QueryEndpointForm key={JSON.stringify(data)} service={service} stored={data ?? undefined} />
        ) : error ? (
          <ErrorNotice error={error} title="Could not load the query endpoint" retry={() => refetch()} />
        ) : (
          <Skeleton height={40} />
        )}
      </Stack>
    </Panel>
  );
}

function QueryEndpointForm(props: { service: Service; stored: InstanceQueryEndpointGetResult | undefined }) {
  const { service, stored } = props;
  const api = useApi();
  const { organizationId, can } = useSession();
  const queries = useQueryClient();
  const [isRemoving, setIsRemoving] = useState(false);
  const [body, setBody] = useState<InstanceQueryEndpointUpsertBody>({
    roles: stored?.roles ?? ['sql_console_read_only'],
    openApiKeys: stored?.openApiKeys ?? [],
    allowedOrigins: stored?.allowedOrigins ?? '',
  });
  const keys = useQuery({ ...keysQuery(api, organizationId), enabled: can('openapiKeyGetList') });
  const target = { organizationId, serviceId: service.id };
  const refresh = () => queries.invalidateQueries({ queryKey: [organizationId] });
  const save = useMutation({
    mutationFn: () => api.instanceQueryEndpointUpsert({ ...target, body }),
    onSuccess: async () => {
      await refresh();
      notifySuccess(`Saved the query endpoint of ${service.name}`);
    },
  });
  const edit = (part: Partial<InstanceQueryEndpointUpsertBody>) => {
    save.reset();
    setBody((before) => ({ ...before, ...part }));
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const isReadOnly = !can('instanceQueryEndpointUpsert');
  const error = save.error instanceof ApiError && save.error.status === 401 ? undefined : save.error;
  const general = findOtherErrors(error, FIELDS);
  // A key may have been deleted since.
  const names = new Map((keys.data ?? []).map(({ id, name }) => [id, name]));
  const choices = [...new Set([...names.keys(), ...body.openApiKeys])];
  return (
    <form onSubmit={submit} aria-label="Query endpoint" noValidate>
      <Stack gap="md">
        {!stored && (
          <Text size="sm" c="dimmed">
            This service has no query endpoint.
          </Text>
        )}
        <MultiSelect
          label="Keys"
          data={choices.map((id) => ({ value: id, label: names.get(id) ?? id }))}
          value={body.openApiKeys}
          onChange={(openApiKeys) => edit({ openApiKeys })}
          maxValues={constraints.openApiKeys.maxItems}
          searchable
          disabled={isReadOnly}
          error={findFieldError(error, 'openApiKeys')}
        />
        <Checkbox.Group
          label="Access"
          value={body.roles}
          onChange={(roles) => edit({ roles: roles as Role[] })}
          error={findFieldError(error, 'roles')}
        >
          <Group gap="lg" mt={6}>
            {constraints.roles.items.values.map((role) => (
              <Checkbox key={role} value={role} label={ROLE_LABELS[role]} disabled={isReadOnly} />
            ))}
          </Group>
        </Checkbox.Group>
        <TextInput
          label="Allowed origins"
          description="Origins that browsers may call from, separated by commas"
          maxLength={constraints.allowedOrigins.maxLength}
          value={body.allowedOrigins ?? ''}
          onChange={(event) => edit({ allowedOrigins: event.currentTarget.value })}
          disabled={isReadOnly}
          error={findFieldError(error, 'allowedOrigins')}
        />
        {general && <Note tone="bad">{general}</Note>}
        {!isReadOnly && (
          <Group gap="xs">
            <Button type="submit" loading={save.isPending}>
              {stored ? 'Save' : 'Create query endpoint'}
            </Button>
            {stored && (
              <Button variant="default" onClick={() => setIsRemoving(true)}>
                Remove
              </Button>
            )}
          </Group>
        )}
      </Stack>
      <ConfirmDialog
        opened={isRemoving}
        title="Remove query endpoint"
        action="Remove"
        isDangerous
        onConfirm={async () => {
          await api.instanceQueryEndpointDelete(target);
          await refresh();
        }}
        onClose={() => setIsRemoving(false)}
      >
        The keys and origins of the query endpoint of <b>{service.name}</b> are removed.
      </ConfirmDialog>
    </form>
  );
}
