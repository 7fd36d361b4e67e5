import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { ApiError, mistakeAt, mistakeElsewhere } from '../../api/errors.ts';
import { serviceQuery } from '../../api/queries.ts';
import type { Service } from '../../api/types.ts';
import { useApi, useServices, useSession } from '../../app/context.tsx';
import { CopyTextButton } from '../../parts/copy-button.tsx';
import { Note } from '../../parts/note.tsx';
import { Panel } from '../../parts/panel.tsx';
import { sizeOf } from '../../parts/service-facts.tsx';
import { tellDone } from '../../parts/notifications.ts';
import { UnsavedGuard } from '../../parts/unsaved-guard.tsx';
import { scalingCurl } from './scaling-curl.ts';
import { ScalingFields } from './scaling-fields.tsx';
import { ScalingOutcome } from './scaling-summary.tsx';
import { changeOf, draftOf, limitsOf, mistakesOf, SCALING_FIELDS, type ScalingDraft } from './scaling-rules.ts';
import classes from './services.module.css';

/** Holds only what was touched: what somebody else changes meanwhile shows through. */
export function ScalingEditor({ service }: { service: Service }) {
  const api = useApi();
  const { base } = useServices();
  const { organizationId, organization, canChangeFleet } = useSession();
  const queries = useQueryClient();
  const [touched, setTouched] = useState<Partial<ScalingDraft>>({});
  const draft: ScalingDraft = { ...draftOf(service), ...touched };
  const change = changeOf(service, draft);
  const isChanged = Object.keys(change).length > 0;
  const limits = limitsOf(service, organization);
  const mistakes = mistakesOf(service, draft, limits);
  const isValid = Object.keys(mistakes).length === 0;

  const save = useMutation({
    mutationFn: () => api.instanceScalingUpdate({ organizationId, serviceId: service.id, body: change }),
    async onSuccess() {
      setTouched({});
      const saved = await queries.fetchQuery({ ...serviceQuery(api, organizationId, service.id), staleTime: 0 });
      tellDone(`${saved.name} is now ${sizeOf(saved)}`);
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
  const errorAt = (field: keyof ScalingDraft) => mistakes[field] ?? mistakeAt(save.error, field);
  // An ended session asks for itself, over the page.
  const isSessionOver = save.error instanceof ApiError && save.error.status === 401;
  const general = isSessionOver ? undefined : mistakeElsewhere(save.error, SCALING_FIELDS);

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
        <ScalingOutcome service={service} draft={draft} change={change} isValid={isValid} />
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
          <CopyTextButton value={scalingCurl(`${window.location.origin}${base}`, organizationId, service.id, change)}>
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
