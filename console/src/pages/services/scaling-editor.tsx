import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { ApiError, findFieldError, findOtherErrors } from '../../api/errors.ts';
import { serviceQuery } from '../../api/queries.ts';
import type { Service } from '../../api/types.ts';
import { useApi, useDependencies, useSession } from '../../app/context.tsx';
import { CopyTextButton } from '../../parts/copy-button.tsx';
import { Note } from '../../parts/note.tsx';
import { notifySuccess } from '../../parts/notifications.ts';
import { Panel } from '../../parts/panel.tsx';
import { formatSize } from '../../parts/service-facts.tsx';
import { UnsavedGuard } from '../../parts/unsaved-guard.tsx';
import { formatScalingCurl } from './scaling-curl.ts';
import { ScalingFields } from './scaling-fields.tsx';
import {
  resolveLimits,
  SCALING_FIELDS,
  type ScalingDraft,
  toScalingChange,
  toScalingDraft,
  validateScaling,
} from './scaling-rules.ts';
import { ScalingSummary } from './scaling-summary.tsx';
import classes from './services.module.css';

/** Holds only what was touched: what somebody else changes meanwhile shows through. */
export function ScalingEditor({ service }: { service: Service }) {
  const api = useApi();
  const { base } = useDependencies();
  const { organizationId, organization, canChangeFleet } = useSession();
  const queries = useQueryClient();
  const [touched, setTouched] = useState<Partial<ScalingDraft>>({});
  const draft: ScalingDraft = { ...toScalingDraft(service), ...touched };
  const change = toScalingChange(service, draft);
  const isChanged = Object.keys(change).length > 0;
  const limits = resolveLimits(service, organization);
  const mistakes = validateScaling(service, draft, limits);
  const isValid = Object.keys(mistakes).length === 0;

  const save = useMutation({
    mutationFn: () => api.instanceScalingUpdate({ organizationId, serviceId: service.id, body: change }),
    async onSuccess() {
      setTouched({});
      const saved = await queries.fetchQuery({ ...serviceQuery(api, organizationId, service.id), staleTime: 0 });
      notifySuccess(`${saved.name} is now ${formatSize(saved)}`);
      await queries.invalidateQueries({ queryKey: [organizationId] });
    },
  });
  const edit = (part: Partial<ScalingDraft>) => {
    save.reset();
    setTouched((before) => ({ ...before, ...part }));
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (isValid && isChanged) save.mutate();
  };
  const errorAt = (field: keyof ScalingDraft) => mistakes[field] ?? findFieldError(save.error, field);
  // An ended session asks for itself, over the page.
  const isSessionOver = save.error instanceof ApiError && save.error.status === 401;
  const general = isSessionOver ? undefined : findOtherErrors(save.error, SCALING_FIELDS);

  return (
    <form className={classes.columns} onSubmit={submit} aria-label="Scaling" noValidate>
      <Panel title="Scaling">
        <Stack gap="xl">
          {!canChangeFleet && (
            <Text size="sm" c="dimmed">
              Your key may look at this. A key with the role admin may change it.
            </Text>
          )}
          <ScalingFields draft={draft} limits={limits} isReadOnly={!canChangeFleet} onChange={edit} errorAt={errorAt} />
        </Stack>
      </Panel>
      <div className={classes.beside}>
        <ScalingSummary service={service} draft={draft} change={change} isValid={isValid} />
        {general && <Note tone="bad">{general}</Note>}
        <Group gap="xs">
          {canChangeFleet && (
            <>
              <Button type="submit" disabled={!isChanged || !isValid} loading={save.isPending}>
                Save changes
              </Button>
              <Button
                variant="default"
                disabled={Object.keys(touched).length === 0 || save.isPending}
                onClick={() => {
                  save.reset();
                  setTouched({});
                }}
              >
                Discard
              </Button>
            </>
          )}
          <CopyTextButton
            value={formatScalingCurl(`${window.location.origin}${base}`, organizationId, service.id, change)}
          >
            Copy as curl
          </CopyTextButton>
        </Group>
      </div>
      <UnsavedGuard isDirty={isChanged && !save.isPending}>
        The new scaling of <b>{service.name}</b> is not saved.
      </UnsavedGuard>
    </form>
  );
}
