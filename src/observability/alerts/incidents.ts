import { DAY_MS } from '../../kernel/time/clock.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Alert } from './alert.ts';
import { formatMeasured } from './alert-message.ts';
import { listAlerts } from './alert-store.ts';
import { listChanges } from './evaluation/evaluation-store.ts';
import type { AlertNotices } from './notices.ts';

/** A time in which an alert fired or had no data. Times are epoch milliseconds. */
interface Incident {
  alert: Alert;
  status: 'firing' | 'no_data';
  startMs: number;
  /** Undefined: until now. */
  endMs: number | undefined;
  value: number | null;
}

/** For people. */
interface ShownIncident extends Incident {
  name: string;
  /** "150 ≥ 100". */
  text: string;
}

/** An incident of the range may have begun before it. */
const LOOK_BACK_MS = 7 * DAY_MS;
/** Windows are evaluated up to a day later, and the end of an incident may be after the range. */
const LOOK_AHEAD_MS = DAY_MS;
const MAX_CHANGES = 2000;

interface Options {
  db: Db;
  findSubject: AlertNotices['findSubject'];
}

/** Reads when alerts fired and were resolved: those that overlap a range, newest first. */
export function createIncidents({ db, findSubject }: Options) {
  return async (
    organizationId: string,
    { startMs, endMs }: { startMs: number; endMs: number },
    limit: number,
  ): Promise<ShownIncident[]> => {
    const range = { fromMs: startMs - LOOK_BACK_MS, toMs: endMs + LOOK_AHEAD_MS };
    const alerts = await listAlerts(db, organizationId);
    if (alerts.length === 0) return [];
    const changes = await listChanges(db, organizationId, range, MAX_CHANGES);
    const incidents = alerts
      .flatMap((alert) => listIncidents(alert, changes.get(alert.id) ?? []))
      .filter((one) => one.startMs < endMs && (one.endMs === undefined || one.endMs >= startMs))
      .sort((one, other) => other.startMs - one.startMs)
      .slice(0, limit);
    const names = new Map<string, string>();
    for (const { alert } of incidents)
      if (!names.has(alert.id)) names.set(alert.id, alert.content.name ?? (await findSubject(alert)).name);
    return incidents.map((incident) => ({
      ...incident,
      name: names.get(incident.alert.id) ?? '',
      text: formatMeasured(incident.value, incident.alert.content),
    }));
  };
}

type Changes = Awaited<ReturnType<typeof listChanges>> extends Map<string, infer List> ? List : never;

/** From one change of the state to the next. What fires now is also known without its change. */
function listIncidents(alert: Alert, changes: Changes): Incident[] {
  const incidents: Incident[] = [];
  const { since = 0 } = alert.state;
  for (const [index, { status, evaluatedAt, windowEnd, value }] of changes.entries()) {
    if (!isIncident(status)) continue;
    const next = changes[index + 1]?.windowEnd;
    // A later change is not among those that were read.
    const isOver = next === undefined && (alert.state.status !== status || since > evaluatedAt);
    incidents.push({ alert, status, startMs: windowEnd, endMs: isOver ? evaluatedAt : next, value });
  }
  const { status, lastValue } = alert.state;
  if (isIncident(status) && changes.length === 0)
    incidents.push({ alert, status, startMs: since, endMs: undefined, value: lastValue });
  return incidents;
}

const isIncident = (status: Alert['state']['status']): status is Incident['status'] =>
  status === 'firing' || status === 'no_data';
