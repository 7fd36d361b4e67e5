import { useQueryClient } from '@tanstack/react-query';
import { serviceQuery } from '../../../api/queries.ts';
import type { ScalingChange, Service } from '../../../api/types.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { notifyError, notifySuccess } from '../../../parts/messages/notifications.ts';
import { notifyWithUndo } from '../../../parts/messages/notify-with-undo.tsx';
import { formatSize } from '../../../parts/services/service-facts.tsx';
import { pickPrevious } from './scaling-draft.ts';

/** Sends a change through the API, shows the new size and offers to undo it. Rejects if the server rejects the change. */
export function useRescale(service: Service): (change: ScalingChange) => Promise<void> {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();

  const send = async (body: ScalingChange): Promise<Service> => {
    await api.instanceReplicaScalingUpdate({ organizationId, serviceId: service.id, body });
    const saved = await queries.fetchQuery({ ...serviceQuery(api, organizationId, service.id), staleTime: 0 });
    void queries.invalidateQueries({ queryKey: [organizationId] });
    return saved;
  };
  return async (change) => {
    const previous = pickPrevious(service, change);
    const saved = await send(change);
    notifyWithUndo(`${saved.name} is now ${formatSize(saved)}`, async () => {
      try {
        const restored = await send(previous);
        notifySuccess(`Change undone: ${restored.name} is ${formatSize(restored)} again`);
      } catch (error) {
        notifyError('Could not undo the change', error);
      }
    });
  };
}
