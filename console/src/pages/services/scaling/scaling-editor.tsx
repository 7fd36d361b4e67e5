import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { ApiError, findFieldError, findOtherErrors } from '../../../api/errors.ts';
import type { Service } from '../../../api/types.ts';
import { useDependencies, useSession } from '../../../app/context.tsx';
import { CopyTextButton } from '../../../parts/forms/copy-button.tsx';
import { UnsavedGuard } from '../../../parts/forms/unsaved-guard.tsx';
import { Note } from '../../../parts/layout/note.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import classes from '../services.module.css';
import { formatScalingCurl } from './scaling-curl.ts';
import {
  SCALING_FIELDS,
  type ScalingDraft,
  toScalingChange,
  toScalingDraft,
  validateScaling,
} from './scaling-draft.ts';
import { ScalingFields } from './scaling-fields.tsx';
import { resolveLimits } from './scaling-limits.ts';
import { ScalingSummary } from './scaling-summary.tsx';
import { useRescale } from './use-rescale.ts';

/** Stores only the edited fields, so that concurrent changes to other fields stay visible. */
export function ScalingEditor({ service }: { service: Service }) {
  const { base } = useDependencies();
  const { organizationId, organization, can } = useSession();
  const isReadOnly = !can('instanceReplicaScalingUpdate');
  const [edited, setEdited] = useState<Partial<ScalingDraft>>({});
  const draft: ScalingDraft = { ...toScalingDraft(service), ...edited };
  const change = toScalingChange(service, draft);
  const isChanged = Object.keys(change).length > 0;
  const limits = resolveLimits(service, organization);
  const errors = validateScaling(service, draft, limits);
  const isValid = Object.keys(errors).length === 0;

  const rescale = useRescale(service);
  const save = useMutation({ mutationFn: () => rescale(change), onSuccess: () => setEdited({}) });
  const edit = (part: Partial<ScalingDraft>) => {
    save.reset();
    setEdited((before) => ({ ...before, ...part }));
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (isValid && isChanged) save.mutate();
  };
  const errorAt = (field: keyof ScalingDraft) => errors[field] ?? findFieldError(save.error, field);
  // An ended session shows the sign-in dialog instead.
  const isSessionEnded = save.error instanceof ApiError && save.error.status === 401;
  const general = isSessionEnded ? undefined : findOtherErrors(save.error, SCALING_FIELDS);

  return (
    <form className={classes.columns} onSubmit={submit} aria-label="Scaling" noValidate>
      <Panel title="Scaling">
        <Stack gap="xl">
          {isReadOnly && (
            <Text size="sm" c="dimmed">
              You can view these settings. Your roles do not allow changing them.
            </Text>
          )}
          <ScalingFields
            draft={draft}
            limits={limits}
            isReadOnly={isReadOnly}
            maxRunning={service.status?.maxReplicas}
            shards={service.shards}
            onChange={edit}
            errorAt={errorAt}
          />
        </Stack>
      </Panel>
      <div className={classes.sidebar}>
        <ScalingSummary service={service} draft={draft} change={change} isValid={isValid} />
        {general && <Note tone="bad">{general}</Note>}
        <Group gap="xs">
          {!isReadOnly && (
            <>
              <Button type="submit" disabled={!isChanged || !isValid} loading={save.isPending}>
                Save changes
              </Button>
              <Button
                variant="default"
                disabled={Object.keys(edited).length === 0 || save.isPending}
                onClick={() => {
                  save.reset();
                  setEdited({});
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
        Your scaling changes to <b>{service.name}</b> have not been saved.
      </UnsavedGuard>
    </form>
  );
}
