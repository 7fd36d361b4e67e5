import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Service, ServiceCommand } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { ConfirmDialog } from '../../parts/forms/confirm-dialog.tsx';
import { notifyError, notifySuccess } from '../../parts/messages/notifications.ts';
import { EditServiceDialog } from './access/edit-service-dialog.tsx';

type Dialog = 'stop' | 'delete' | 'edit';

/** Starts, stops, wakes, edits and deletes the service. */
export function ServiceActions({ service }: { service: Service }) {
  const api = useApi();
  const { organizationId, can } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<Dialog>();

  const target = { organizationId, serviceId: service.id };
  const close = () => setDialog(undefined);
  const refresh = () => queries.invalidateQueries({ queryKey: [organizationId] });
  const send = async (command: ServiceCommand) => {
    await api.instanceStateUpdate({ ...target, body: { command } });
    await refresh();
  };
  const start = (command: ServiceCommand) =>
    send(command).catch((error) => notifyError(`Could not ${command} the service`, error));
  const isStopped = service.state === 'stopped';
  const isBroken = service.state === 'degraded' || service.state === 'failed';
  const canSend = can('instanceStateUpdate');
  return (
    <>
      {can('instanceUpdate') && (
        <Button variant="default" onClick={() => setDialog('edit')}>
          Edit
        </Button>
      )}
      {canSend && (isStopped || isBroken) && (
        <Button variant="default" onClick={() => start('start')}>
          Start
        </Button>
      )}
      {canSend && service.state === 'idle' && (
        <Button variant="default" onClick={() => start('awake')}>
          Wake
        </Button>
      )}
      {canSend && !isStopped && (
        <Button variant="default" disabled={service.state === 'stopping'} onClick={() => setDialog('stop')}>
          Stop
        </Button>
      )}
      {can('instanceDelete') && isStopped && (
        <Button variant="default" onClick={() => setDialog('delete')}>
          Delete
        </Button>
      )}
      {dialog === 'edit' && <EditServiceDialog service={service} onClose={close} />}
      <ConfirmDialog
        opened={dialog === 'stop'}
        title="Stop service"
        action="Stop service"
        isDangerous
        onConfirm={() => send('stop')}
        onClose={close}
      >
        <b>{service.name}</b> stops and answers no queries until you start it again.
      </ConfirmDialog>
      <ConfirmDialog
        opened={dialog === 'delete'}
        title="Delete service"
        action="Delete service"
        isDangerous
        typedName={service.name}
        onConfirm={async () => {
          await api.instanceDelete(target);
          notifySuccess(`Deleted service ${service.name}`);
          await navigate({ to: '/services' });
          await refresh();
        }}
        onClose={close}
      >
        <b>{service.name}</b> is deleted with its data. Its costs stay in the reports.{' '}
        {service.driver === 'embedded'
          ? 'Its backups stay for the retention of its backup configuration and can be restored until then.'
          : 'It cannot be restored.'}
      </ConfirmDialog>
    </>
  );
}
