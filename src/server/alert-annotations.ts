import type { Clock } from '../kernel/time/clock.ts';
import type { createIncidents } from '../observability/alerts/incidents.ts';
import type { ReadAnnotations } from '../observability/annotations/annotation.ts';

interface Options {
  clock: Clock;
  listIncidents: ReturnType<typeof createIncidents>;
  consoleUrl: string | undefined;
}

/** When alerts fired and were resolved. Those of a tile are on its dashboard only. */
export function createAlertAnnotations({ clock, listIncidents, consoleUrl }: Options): ReadAnnotations {
  return async (organizationId, range, limit) => {
    const incidents = await listIncidents(organizationId, range, limit);
    return incidents.map(({ alert, name, status, startMs, endMs, text }) => ({
      id: `${alert.id}-${startMs}`,
      kind: 'alert' as const,
      time: startMs,
      endTime: endMs ?? Math.max(startMs, clock.now()),
      title: `${name} ${status === 'firing' ? 'fired' : 'had no data'}`,
      text: endMs === undefined ? `${text}, not resolved yet` : text,
      tags: Object.entries(alert.content.labels ?? {}).map(([label, value]) => `${label}: ${value}`),
      dashboardId: alert.content.dashboardId ?? undefined,
      ...(consoleUrl !== undefined && { link: `${consoleUrl}/console/alerts/${alert.id}` }),
      createdBy: 'alerts',
    }));
  };
}
