import type { Violation } from '../../../kernel/errors.ts';
import type { Alert } from '../../../observability/alerts/alert.ts';
import { isBuiltIn } from '../../../observability/sources/source-rules.ts';
import type { Declared } from '../declared.ts';
import type { createKindPlanner, KindPlan } from '../kind-plan.ts';
import { joinPath } from '../kind-plan.ts';
import { alertKind, listReferenceViolations, resolveReferences } from '../kinds/alert.ts';
import { channelKind } from '../kinds/channel.ts';
import { dashboardKind } from '../kinds/dashboard.ts';
import type { Context, Kind } from '../kinds/kind.ts';
import { savedSearchKind } from '../kinds/saved-search.ts';
import { NO_TARGETS, type Targets } from '../references.ts';

interface AlertingPlan {
  /** All declarations, with ids instead of names. */
  resources: Declared[];
  /** In the order of the file. */
  kinds: Omit<KindPlan<unknown>, 'result'>[];
  alerts: KindPlan<Alert>;
  violations(): Violation[];
  /** Of saved searches and alerts that change. A warning, as for dashboards: the source may be declared later. */
  listMissingSources(sources: ReadonlyMap<string, unknown>): Violation[];
}

/** Alerts, and what they need. Alerts are planned last: they refer to what is there after the change. */
export async function planAlerting(
  plan: ReturnType<typeof createKindPlanner>,
  context: Context,
  dashboards: Targets['dashboards'],
  { resources, path, prune }: { resources: readonly Declared[]; path: string; prune: boolean },
): Promise<AlertingPlan> {
  const channels = await plan(channelKind, prune);
  const savedSearches = await plan(savedSearchKind, prune);
  context.targets = { channels: channels.result, savedSearches: savedSearches.result, dashboards };
  const declared = listDeclaredTargets(resources, context);
  const declarations = resources
    .filter(({ kind }) => kind === 'alert')
    .map((alert) => ({ ...alert, fields: resolveReferences(alert.fields, context.targets, declared) }));
  const alerts = await plan(alertKind, prune, declarations);
  return {
    resources: [...resources.filter(({ kind }) => kind !== 'alert'), ...declarations],
    kinds: [channels, savedSearches, alerts],
    alerts,
    violations: () => [
      ...listLostTargets(alerts, declarations, context.targets),
      ...listLostChannels(alerts, declarations, context.targets, path),
    ],
    listMissingSources(sources) {
      const paths = new Map(resources.map(({ kind, id, path: declared }) => [`${kind} ${id}`, declared]));
      const references = [
        ...savedSearches.pairs.map(({ id, after }) => ({
          path: `${paths.get(`saved_search ${id}`)}.sourceId`,
          value: after.content.sourceId,
        })),
        ...alerts.pairs.map(({ id, after }) => ({
          path: `${paths.get(`alert ${id}`)}.metric.sourceId`,
          value: after.content.metric?.sourceId,
        })),
      ];
      return references
        .filter(({ value }) => value !== undefined && !sources.has(value) && !isBuiltIn(value))
        .map((reference) => ({ ...reference, rule: 'The source does not exist' }));
    },
  };
}

/** What the file declares, also if it was renamed or deleted over the API. */
function listDeclaredTargets(resources: readonly Declared[], context: Context): Targets {
  if (!resources.some(({ kind }) => kind === 'alert')) return NO_TARGETS;
  const build = <T>(kind: Kind<T>): ReadonlyMap<string, T> =>
    new Map(
      resources
        .filter((resource) => resource.kind === kind.name)
        .map(({ id, fields }) => [id, kind.build(id, fields, context, undefined, fields)]),
    );
  return { channels: build(channelKind), savedSearches: build(savedSearchKind), dashboards: build(dashboardKind) };
}

/** Declared alerts that do not change, but lose what they watch or a channel. */
function listLostTargets(alerts: KindPlan<Alert>, declarations: readonly Declared[], targets: Targets): Violation[] {
  const changed = new Set(alerts.pairs.map(({ id }) => id));
  return declarations.flatMap(({ id, path }) => {
    const alert = !changed.has(id) ? alerts.result.get(id) : undefined;
    if (!alert) return [];
    return listReferenceViolations(alert.content, targets).map((violation) => ({
      ...violation,
      path: joinPath(path, violation.path),
    }));
  });
}

/** Other alerts that would lose a channel. Those that lose what they watch are deleted, as over the API. */
function listLostChannels(
  alerts: KindPlan<Alert>,
  declarations: readonly Declared[],
  { channels }: Targets,
  path: string,
): Violation[] {
  const declared = new Set(declarations.map(({ id }) => id));
  return [...alerts.result.values()]
    .filter(({ id }) => !declared.has(id))
    .flatMap(({ id, content }) =>
      content.channels
        .filter(({ webhookId }) => !channels.has(webhookId))
        .map(({ webhookId }) => ({
          path: joinPath(path, 'channels'),
          rule: `The alert ${content.name ?? id} uses a channel that would be removed`,
          value: webhookId,
        })),
    );
}
