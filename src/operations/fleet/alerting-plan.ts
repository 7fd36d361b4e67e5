import type { Violation } from '../../kernel/errors.ts';
import type { Alert } from '../../observability/alerts/alert.ts';
import type { SavedSearch } from '../../observability/search/saved-search.ts';
import type { Declared } from './declared.ts';
import type { createKindPlanner, KindPlan } from './kind-plan.ts';
import { joinPath } from './kind-plan.ts';
import { alertKind, listReferenceViolations, resolveReferences } from './kinds/alert.ts';
import { channelKind } from './kinds/channel.ts';
import type { Context } from './kinds/kind.ts';
import { savedSearchKind } from './kinds/saved-search.ts';
import type { Targets } from './references.ts';

interface AlertingPlan {
  /** All declarations, with ids instead of names. */
  resources: Declared[];
  /** In the order of the file. */
  kinds: Omit<KindPlan<unknown>, 'result'>[];
  alerts: KindPlan<Alert>;
  savedSearches: KindPlan<SavedSearch>;
  violations(): Violation[];
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
  const declarations = resources
    .filter(({ kind }) => kind === 'alert')
    .map((alert) => ({ ...alert, fields: resolveReferences(alert.fields, context.targets) }));
  const alerts = await plan(alertKind, prune, declarations);
  return {
    resources: [...resources.filter(({ kind }) => kind !== 'alert'), ...declarations],
    kinds: [channels, savedSearches, alerts],
    alerts,
    savedSearches,
    violations: () => [
      ...listLostTargets(alerts, declarations, context.targets),
      ...listLostChannels(alerts, declarations, context.targets, path),
    ],
  };
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
