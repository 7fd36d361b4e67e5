import { Button, Group, NumberInput, SegmentedControl, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { findFieldError, findOtherErrors } from '../../../api/errors.ts';
import {
  type BackupConfigurationGetResult,
  backupConfigurationUpdateConstraints as constraints,
} from '../../../api/generated.ts';
import { backupConfigurationQuery } from '../../../api/service-settings.ts';
import type { Service } from '../../../api/types.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { Note } from '../../../parts/layout/note.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import { notifySuccess } from '../../../parts/messages/notifications.ts';
import { useService } from '../service-context.tsx';
import classes from '../services.module.css';
import { type BackupDraft, toBackupChange, toBackupDraft, validateBackup } from './backup-draft.ts';
import { BackupList } from './backup-list.tsx';

const FIELDS = ['backupPeriodInHours', 'backupRetentionPeriodInHours', 'backupStartTime'];

/** The backups of a service and their configuration. */
export function BackupsTab() {
  const service = useService();
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, refetch } = useQuery(backupConfigurationQuery(api, organizationId, service.id));
  return (
    <>
      {service.driver === 'simulated' ? (
        <Note tone="warn" title="This service is not backed up">
          The configuration is stored, but a simulated service has no data.
        </Note>
      ) : (
        <BackupList service={service} />
      )}
      <Panel title="Backup configuration">
        {data ? (
          <BackupForm key={JSON.stringify(data)} service={service} stored={data} />
        ) : error ? (
          <ErrorNotice error={error} title="Could not load the backup configuration" retry={() => refetch()} />
        ) : (
          <Skeleton height={120} />
        )}
      </Panel>
    </>
  );
}

function BackupForm({ service, stored }: { service: Service; stored: BackupConfigurationGetResult }) {
  const api = useApi();
  const { organizationId, can } = useSession();
  const queries = useQueryClient();
  const [draft, setDraft] = useState(() => toBackupDraft(stored));
  const change = toBackupChange(stored, draft);
  const errors = validateBackup(stored, draft);
  const save = useMutation({
    mutationFn: () => api.backupConfigurationUpdate({ organizationId, serviceId: service.id, body: change }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: [organizationId] });
      notifySuccess(`Saved the backup configuration of ${service.name}`);
    },
  });
  const edit = (part: Partial<BackupDraft>) => {
    save.reset();
    setDraft((before) => ({ ...before, ...part }));
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (Object.keys(errors).length === 0) save.mutate();
  };
  const isReadOnly = !can('backupConfigurationUpdate');
  const isDaily = draft.kind === 'daily';
  const general = findOtherErrors(save.error, FIELDS);
  const toNumber = (value: number | string) => (typeof value === 'number' ? value : '');
  return (
    <form onSubmit={submit} aria-label="Backup configuration" noValidate>
      <Stack gap="md" className={classes.narrow}>
        <div>
          <SegmentedControl
            aria-label="When"
            data={[
              { value: 'interval', label: 'Every few hours' },
              { value: 'daily', label: 'Once a day' },
            ]}
            value={draft.kind}
            disabled={isReadOnly}
            onChange={(kind) => edit({ kind: kind as BackupDraft['kind'] })}
          />
        </div>
        {isDaily ? (
          <TextInput
            label="Start time (UTC)"
            type="time"
            value={draft.startTime}
            disabled={isReadOnly}
            onChange={(event) => edit({ startTime: event.currentTarget.value })}
            error={errors.startTime ?? findFieldError(save.error, 'backupStartTime')}
          />
        ) : (
          <NumberInput
            label="Hours between backups"
            min={constraints.backupPeriodInHours.minimum}
            max={constraints.backupPeriodInHours.maximum}
            clampBehavior="none"
            allowDecimal={false}
            allowNegative={false}
            value={draft.periodHours}
            disabled={isReadOnly}
            onChange={(value) => edit({ periodHours: toNumber(value) })}
            error={errors.periodHours ?? findFieldError(save.error, 'backupPeriodInHours')}
          />
        )}
        <NumberInput
          label="Keep for (hours)"
          min={constraints.backupRetentionPeriodInHours.minimum}
          max={constraints.backupRetentionPeriodInHours.maximum}
          clampBehavior="none"
          allowDecimal={false}
          allowNegative={false}
          value={draft.retentionHours}
          disabled={isReadOnly}
          onChange={(value) => edit({ retentionHours: toNumber(value) })}
          error={errors.retentionHours ?? findFieldError(save.error, 'backupRetentionPeriodInHours')}
        />
        {general && <Note tone="bad">{general}</Note>}
        {isReadOnly ? (
          <Text size="sm" c="dimmed">
            You can view this configuration. Your roles do not allow changing it.
          </Text>
        ) : (
          <Group>
            <Button
              type="submit"
              loading={save.isPending}
              disabled={Object.keys(change).length === 0 || Object.keys(errors).length > 0}
            >
              Save
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}
