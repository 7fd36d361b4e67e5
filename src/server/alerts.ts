import type { Logger } from 'pino';
import type { Clock } from '../kernel/time/clock.ts';
import type { Audit } from '../management/audit/audit.ts';
import type { Notifications } from '../management/notifications/notifications.ts';
import type { Organizations } from '../management/organizations/organizations.ts';
import { createAlertRetention } from '../observability/alerts/alert-retention.ts';
import { createAlertSources, createSampleReader } from '../observability/alerts/alert-sources.ts';
import { createAlerts } from '../observability/alerts/alerts.ts';
import type { ConditionReaders } from '../observability/alerts/conditions.ts';
import { createAlertValues } from '../observability/alerts/evaluation/alert-values.ts';
import { createEvaluator } from '../observability/alerts/evaluation/evaluator.ts';
import { createPreview } from '../observability/alerts/evaluation/preview.ts';
import { createIncidents } from '../observability/alerts/incidents.ts';
import { createAlertNotices } from '../observability/alerts/notices.ts';
import { createAlertRemoval } from '../observability/alerts/removal.ts';
import type { TelemetryQueries } from '../observability/charts/telemetry-queries.ts';
import { createWindowValues } from '../observability/charts/window-values.ts';
import type { Search } from '../observability/search/search.ts';
import type { State } from '../platform/state/state.ts';

interface Options extends Pick<Parameters<typeof createAlertSources>[0], 'findDashboard' | 'findSavedSearch'> {
  state: State;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  audit: Audit;
  organizations: Organizations;
  notifications: Notifications;
  queries: TelemetryQueries;
  search: Search;
  conditions: ConditionReaders;
  consoleUrl: string | undefined;
}

/** Creates alerts, with what evaluates them. */
export function createAlertDomain(options: Options) {
  const { state, clock, log, audit, organizations, notifications, queries, search, conditions, consoleUrl } = options;
  const windowValues = createWindowValues({ queries });
  const sources = createAlertSources(options);
  const { getTile, getSavedSearch, findSubject } = sources;
  const values = createAlertValues({ windowValues, conditions, getTile, getSavedSearch });
  const readSamples = createSampleReader(search, getSavedSearch);
  const notices = createAlertNotices({ findSubject, readSamples, consoleUrl });
  const evaluator = createEvaluator({ state, log, organizations, values, notices, notifications });
  const removal = createAlertRemoval({ db: state.db, clock, audit, notifications, notices });
  const alerts = createAlerts({
    state,
    clock,
    audit,
    organizations,
    notifications,
    notices,
    removal,
    checkSource: sources.createCheck(values, windowValues),
    onChange: evaluator.request,
  });
  return {
    alerts,
    alertRemoval: removal,
    alertPreview: createPreview({ clock, values }),
    evaluator,
    listIncidents: createIncidents({ db: state.db, findSubject }),
    alertRetention: createAlertRetention({ state, clock }),
  };
}
