import { useQuery } from '@tanstack/react-query';
import type { Alert } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { CONDITION_LABELS } from './alert-status.ts';

/** What an alert watches, in words. `isMissing`: it was deleted. */
export interface AlertSource {
  kind: string;
  name: string;
  isMissing?: boolean;
}

interface AlertNames {
  /** The name of the alert, else that of its source. */
  getName(alert: Alert): string;
  getSource(alert: Alert): AlertSource;
}

type Tile = { id: string; name: string };

/** Names of alerts and of what they watch. Saved searches and dashboards are read only if an alert needs them. */
export function useAlertNames(alerts: readonly Alert[] = []): AlertNames {
  const api = useApi();
  const { organizationId, canSeeDashboards } = useSession();
  const needs = (source: Alert['source']) => canSeeDashboards && alerts.some((alert) => alert.source === source);
  const searches = useQuery({
    queryKey: [organizationId, 'saved-searches'],
    queryFn: ({ signal }) => api.listSavedSearches({}, { signal }),
    enabled: needs('saved_search'),
  }).data;
  const dashboards = useQuery({
    queryKey: [organizationId, 'dashboards'],
    queryFn: ({ signal }) => api.listDashboards({ format: 'series' }, { signal }),
    enabled: needs('tile'),
  }).data;

  const getSource = ({ source, savedSearchId, dashboardId, tileId, metric, condition }: Alert): AlertSource => {
    if (source === 'condition')
      return { kind: 'Condition', name: condition ? CONDITION_LABELS[condition] : 'Condition' };
    if (source === 'metric')
      return { kind: 'Metric', name: metric?.metricName ?? metric?.field ?? metric?.aggFn ?? 'Metric' };
    if (source === 'saved_search') {
      const found = searches?.find(({ id }) => id === savedSearchId);
      return toSource('Saved search', found?.name, searches !== undefined);
    }
    const dashboard = dashboards?.find(({ id }) => id === dashboardId);
    const tile = (dashboard?.tiles as Tile[] | undefined)?.find(({ id }) => id === tileId);
    const name = dashboard && tile ? `${dashboard.name}: ${tile.name || 'Untitled tile'}` : undefined;
    return toSource('Tile', name, dashboards !== undefined);
  };
  return { getSource, getName: (alert) => alert.name ?? getSource(alert).name };
}

function toSource(kind: string, name: string | undefined, isLoaded: boolean): AlertSource {
  if (name !== undefined) return { kind, name };
  return isLoaded ? { kind, name: 'Deleted', isMissing: true } : { kind, name: '…' };
}
