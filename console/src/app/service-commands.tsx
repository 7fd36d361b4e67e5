import type { SpotlightActionData } from '@mantine/spotlight';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Service, ServiceCommand } from '../api/types.ts';
import { ConfirmDialog } from '../parts/forms/confirm-dialog.tsx';
import { ServicesIcon } from '../parts/layout/icons.tsx';
import { notifyError, notifySuccess } from '../parts/messages/notifications.ts';
import { useApi, useSession } from './context.tsx';

/** The first word of a command. The rest of the text finds the service. */
const VERBS = ['start', 'stop', 'wake', 'scale', 'query', 'open'];

/** "stop analytics" → "analytics". */
export function removeVerb(text: string): string {
  const words = text.trim().split(/\s+/);
  const isVerb = (word: string | undefined) => VERBS.includes(word?.toLowerCase() ?? '');
  if (isVerb(words[0])) return words.slice(1).join(' ');
  return isVerb(words.at(-1)) ? words.slice(0, -1).join(' ') : words.join(' ');
}

interface ServiceCommands {
  /** What can be done with each service in its state, by the key of this session. */
  list(services: readonly Service[]): SpotlightActionData[];
  /** Asks before a service stops. */
  confirmation: ReactNode;
}

/** `onAsk`: a question was asked; `onAnswer`: it was answered. */
export function useServiceCommands({ onAsk, onAnswer }: { onAsk(): void; onAnswer(): void }): ServiceCommands {
  const api = useApi();
  const { organizationId, can } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [stopping, setStopping] = useState<Service>();

  const send = async ({ id }: Service, command: ServiceCommand) => {
    await api.instanceStateUpdate({ organizationId, serviceId: id, body: { command } });
    await queries.invalidateQueries({ queryKey: [organizationId] });
  };
  const sendNow = (service: Service, command: ServiceCommand, done: string) =>
    void send(service, command).then(
      () => notifySuccess(`${done} ${service.name}`),
      (error) => notifyError(`Could not ${command} ${service.name}`, error),
    );

  const listFor = (service: Service): { verb: string; onClick: () => void }[] => {
    const { id, state } = service;
    const isStopped = state === 'stopped';
    const canSend = can('instanceStateUpdate');
    return [
      { verb: 'Open', onClick: () => void navigate({ to: '/services/$id', params: { id } }) },
      ...(canSend && (isStopped || state === 'degraded' || state === 'failed')
        ? [{ verb: 'Start', onClick: () => sendNow(service, 'start', 'Starting') }]
        : []),
      ...(canSend && state === 'idle' ? [{ verb: 'Wake', onClick: () => sendNow(service, 'awake', 'Waking') }] : []),
      ...(canSend && !isStopped && state !== 'stopping'
        ? [
            {
              verb: 'Stop',
              onClick: () => {
                onAsk();
                setStopping(service);
              },
            },
          ]
        : []),
      ...(can('sqlRead') && service.driver === 'embedded'
        ? [{ verb: 'Query', onClick: () => void navigate({ to: '/services/$id/sql', params: { id } }) }]
        : []),
      ...(can('instanceReplicaScalingUpdate')
        ? [
            {
              verb: 'Scale',
              onClick: () => void navigate({ to: '/services/$id/scaling', params: { id } }),
            },
          ]
        : []),
    ];
  };

  return {
    list: (services) =>
      services.flatMap((service) =>
        listFor(service).map(({ verb, onClick }) => ({
          id: `${verb}-${service.id}`,
          label: `${verb} ${service.name}`,
          keywords: `${service.name} ${verb}`,
          description: 'Service',
          leftSection: <ServicesIcon />,
          onClick,
        })),
      ),
    confirmation: stopping && (
      <ConfirmDialog
        opened
        title="Stop service"
        action="Stop service"
        isDangerous
        onConfirm={() => send(stopping, 'stop')}
        onClose={onAnswer}
      >
        <b>{stopping.name}</b> stops and answers no queries until you start it again.
      </ConfirmDialog>
    ),
  };
}
