import { useQueryClient } from '@tanstack/react-query';
import type { Alert } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { alertsQuery } from '../../parts/alerts/alerts-query.ts';
import { notifyError, notifySuccess } from '../../parts/messages/notifications.ts';

/** What can be done with an alert. `name` is for the messages. */
export function useAlertActions() {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const refresh = async () => {
    await queries.invalidateQueries({ queryKey: alertsQuery(api, organizationId).queryKey });
    void queries.invalidateQueries({ queryKey: [organizationId, 'activities'] });
  };
  return {
    refresh,
    async silence({ id }: Alert, name: string, until: string, reason: string) {
      await api.silenceAlert({ id, body: { until, ...(reason === '' ? {} : { reason }) } });
      await refresh();
      notifySuccess(`Silenced ${name}`);
    },
    async endSilence({ id }: Alert, name: string) {
      try {
        await api.unsilenceAlert({ id });
        await refresh();
        notifySuccess(`Ended the silence of ${name}`);
      } catch (error) {
        notifyError('Could not end the silence', error);
      }
    },
    async acknowledge({ id }: Alert, name: string) {
      try {
        await api.acknowledgeAlert({ id });
        await refresh();
        notifySuccess(`Acknowledged ${name}`);
      } catch (error) {
        notifyError('Could not acknowledge the alert', error);
      }
    },
    async remove({ id }: Alert, name: string) {
      await api.deleteAlert({ id });
      // The page of the alert must not read it again.
      queries.removeQueries({ queryKey: [organizationId, 'alerts', id] });
      await refresh();
      notifySuccess(`Deleted ${name}`);
    },
  };
}
