import { AppError, type Violation } from '../../../kernel/errors.ts';
import { type Alert, type AlertContent, changeAlert, createAlert } from '../../../observability/alerts/alert.ts';
import { listAlertViolations, normalizeAlert } from '../../../observability/alerts/alert-input.ts';
import type { AlertBody } from '../../../observability/alerts/alert-schema.ts';
import { listAlerts, putAlert } from '../../../observability/alerts/alert-store.ts';
import { toSearchSeries, toTileSeries } from '../../../observability/alerts/evaluation/alert-values.ts';
import type { Fields } from '../declared.ts';
import { CHANNELS, DASHBOARDS, listTiles, type Resolver, SAVED_SEARCHES, type Targets, TILES } from '../references.ts';
import type { Kind } from './kind.ts';

/** A file names what an alert refers to; the fields have ids, see `resolveReferences`. */
export const alertKind: Kind<Alert> = {
  name: 'alert',
  activities: { create: 'alert_create', update: () => 'alert_update', remove: 'alert_delete' },

  async load(tx, organizationId) {
    return new Map((await listAlerts(tx, organizationId)).map((alert) => [alert.id, alert]));
  },

  toFields({ content: { savedSearchId, dashboardId, tileId, channels, ...fields } }) {
    const channelIds = channels.map(({ webhookId }) => webhookId);
    return { ...fields, savedSearch: savedSearchId, dashboard: dashboardId, tile: tileId, channels: channelIds };
  },
  toAuditFields: ({ content }) => content,
  defaults: () => ({}),

  build(id, fields, { organization, now }, before) {
    const content = normalizeAlert(toBody(fields));
    return before
      ? changeAlert(before, content, now)
      : createAlert({ id, organizationId: organization.id }, content, now);
  },

  violations: ({ after: { content } }, { now, targets }) => [
    ...listReferenceViolations(content, targets),
    ...listAlertViolations(content, content, now).map(({ path, ...violation }) => ({
      ...violation,
      path: path.replace(/^(savedSearch|dashboard|tile)Id$/, '$1'),
    })),
  ],

  async save(tx, pairs) {
    for (const { after } of pairs) await putAlert(tx, after);
  },

  remove: (tx, alert, { alertRemoval }) => alertRemoval.erase(tx, alert),
};

function toBody({ savedSearch, dashboard, tile, channels, ...fields }: Fields): AlertBody {
  return {
    ...(fields as unknown as AlertBody),
    savedSearchId: savedSearch as string | null,
    dashboardId: dashboard as string | null,
    tileId: tile as string | null,
    channels: ((channels ?? []) as string[]).map((webhookId) => ({ type: 'webhook', webhookId })),
  };
}

/**
 * Ids instead of names. A name that has another id than before is a change, as if the file had declared the id. What was
 * renamed or deleted over the API has the name by which the file declares it.
 */
export function resolveReferences(
  { savedSearch, dashboard, tile, channels, ...fields }: Fields,
  targets: Targets,
  declared: Targets,
): Fields {
  function resolve<T>(resolver: Resolver<T>, list: (from: Targets) => ReadonlyMap<string, T>, reference: unknown) {
    if (typeof reference !== 'string') return undefined;
    const id = resolver.resolve(list(targets), reference);
    return list(targets).has(id) ? id : resolver.resolve(list(declared), reference);
  }
  const dashboardId = resolve(DASHBOARDS, ({ dashboards }) => dashboards, dashboard);
  const resolved = {
    savedSearch: resolve(SAVED_SEARCHES, ({ savedSearches }) => savedSearches, savedSearch),
    dashboard: dashboardId,
    tile: resolve(TILES, (from) => listTiles(from, dashboardId ?? ''), tile),
    channels: (channels as string[] | undefined)?.map((name) => resolve(CHANNELS, (from) => from.channels, name)),
  };
  return { ...fields, ...Object.fromEntries(Object.entries(resolved).filter(([, value]) => value !== undefined)) };
}

/** What the alert refers to does not exist, or has no values. */
export function listReferenceViolations(content: AlertContent, targets: Targets): Violation[] {
  const { channels } = content;
  const missing = channels.flatMap(({ webhookId }, index) =>
    targets.channels.has(webhookId)
      ? []
      : [{ path: `channels[${index}]`, rule: CHANNELS.explain(targets.channels, webhookId), value: webhookId }],
  );
  if (channels.length === 0)
    missing.push({ path: 'channels', rule: 'At least one channel is required', value: channels.length as never });
  return [...listSourceViolations(content, targets), ...missing];
}

function listSourceViolations({ savedSearchId, dashboardId, tileId }: AlertContent, targets: Targets): Violation[] {
  const { savedSearches, dashboards } = targets;
  if (savedSearchId !== null) {
    const search = savedSearches.get(savedSearchId);
    if (search) return checkSeries('savedSearch', savedSearchId, () => toSearchSeries(search.content, []));
    return [{ path: 'savedSearch', rule: SAVED_SEARCHES.explain(savedSearches, savedSearchId), value: savedSearchId }];
  }
  if (dashboardId === null || tileId === null) return [];
  if (!dashboards.has(dashboardId))
    return [{ path: 'dashboard', rule: DASHBOARDS.explain(dashboards, dashboardId), value: dashboardId }];
  const tiles = listTiles(targets, dashboardId);
  const tile = tiles.get(tileId);
  if (tile) return checkSeries('tile', tileId, () => toTileSeries(tile));
  return [{ path: 'tile', rule: TILES.explain(tiles, tileId), value: tileId }];
}

function checkSeries(path: string, value: string, read: () => unknown): Violation[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [{ path, rule: error.message, value }];
  }
}

/** With names where they are unique, and without members that are not set. */
export function toExportedAlert(alert: Alert, targets: Targets): Fields {
  const { savedSearchId, dashboardId, tileId, channels } = alert.content;
  const fields: Fields = {
    ...alertKind.toFields(alert),
    savedSearch: savedSearchId && SAVED_SEARCHES.format(targets.savedSearches, savedSearchId),
    dashboard: dashboardId && DASHBOARDS.format(targets.dashboards, dashboardId),
    tile: tileId && TILES.format(listTiles(targets, dashboardId ?? ''), tileId),
    channels: channels.map(({ webhookId }) => CHANNELS.format(targets.channels, webhookId)),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
