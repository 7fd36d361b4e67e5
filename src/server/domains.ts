import type { Logger } from 'pino';
import type { RateCounter } from '../kernel/rate-counter.ts';
import type { Clock } from '../kernel/time/clock.ts';
import { createAudit } from '../management/audit/audit.ts';
import { createAuditRetention } from '../management/audit/retention.ts';
import { createBudgets } from '../management/billing/budgets/budgets.ts';
import { findBudgetWebhook, listBudgetsUsingChannel } from '../management/billing/budgets/store.ts';
import { createCosts } from '../management/billing/costs.ts';
import { createEntities } from '../management/billing/entities.ts';
import { createForecasts } from '../management/billing/forecast/forecasts.ts';
import { createScalingCosts } from '../management/billing/forecast/scaling-costs.ts';
import { createPrices } from '../management/billing/prices/prices.ts';
import { createServiceMetrics } from '../management/billing/prometheus/service-metrics.ts';
import { createReports } from '../management/billing/reports/reports.ts';
import { createKeptResponses } from '../management/idempotency/kept-responses.ts';
import { createKeyWriter } from '../management/keys/key-writer.ts';
import { createKeys } from '../management/keys/keys.ts';
import { createRoleAssignments } from '../management/keys/role-assignments.ts';
import { createKeyVerifier } from '../management/keys/verification.ts';
import { listRoleHolders } from '../management/members/store.ts';
import { createNotifications } from '../management/notifications/notifications.ts';
import { createNotificationRetention } from '../management/notifications/retention.ts';
import { createOrganizations } from '../management/organizations/organizations.ts';
import { createRoleReader } from '../management/roles/role-reader.ts';
import { createRoles } from '../management/roles/roles.ts';
import { createDrivenServices } from '../management/services/driven-services.ts';
import { createServiceLifecycle } from '../management/services/lifecycle/lifecycle.ts';
import { createServices } from '../management/services/services.ts';
import { createServiceSettings } from '../management/services/settings/settings.ts';
import { listExistingServiceIds } from '../management/services/store.ts';
import { listAlertsUsingChannel } from '../observability/alerts/alert-store.ts';
import { createVersionRetention } from '../observability/dashboards/versions/version-retention.ts';
import { createTokenVerifier } from '../observability/tokens/verification.ts';
import { createFolderAlerts } from '../operations/fleet/alerting/folder-alerts.ts';
import { createFleet } from '../operations/fleet/fleet.ts';
import { createSetup } from '../operations/setup/setup.ts';
import { createLastUsed } from '../platform/credentials/last-used.ts';
import type { Engine } from '../platform/engine/engine.ts';
import type { State } from '../platform/state/state.ts';
import { findRestorable } from '../running/backups/backups.ts';
import { createObservability, type ObservabilityOptions } from './observability.ts';
import { createPeople, type PeopleConfig } from './people.ts';
import { createRetention } from './retention.ts';
import { createRunningDomains } from './running-domains.ts';
import { createSecurity } from './security.ts';
import { hasSqlStorage } from './settings/backup-settings.ts';
import type { Config } from './settings/config.ts';
import { createUsageDomains } from './usage-domains.ts';

export type Domains = ReturnType<typeof createDomains>;

interface Options {
  state: State;
  engine: Engine;
  /** Of this node. Domains use that of the store, so that all nodes have the same time. */
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn'>;
  /** Receives the duration of rating one day. */
  observeRating?: (seconds: number) => void;
  observeIngest?: ObservabilityOptions['observeIngest'];
  /** The process that owns the engine, if it is not this one. */
  engineOwnerNode?: string | undefined;
  /** Counts for several processes. */
  rateCounter?: RateCounter | undefined;
  config: ObservabilityOptions['config'] &
    PeopleConfig &
    Pick<Config, 'dataDirectory' | 'maxKeys' | 'lockAfterDays'> &
    Partial<
      Pick<
        Config,
        | 'maxServices'
        | 'simulatedTransitionMs'
        | 'defaultDriver'
        | 'webhookAllowPrivate'
        | 'smtpUrl'
        | 'smtpFrom'
        | 'auditRetentionDays'
        | 'versionRetentionDays'
      >
    >;
}

/** Creates the domains on an open store. Each one may use those created before it. */
export function createDomains({
  state,
  engine,
  clock: nodeClock,
  log,
  observeRating,
  observeIngest,
  engineOwnerNode,
  rateCounter,
  config,
}: Options) {
  const { db, clock } = state;
  const organizations = createOrganizations({ db });
  const audit = createAudit({ db, clock });
  const keptResponses = createKeptResponses({ state, clock, log });
  const roleReader = createRoleReader({ db });
  const keyWriter = createKeyWriter({ clock, audit, roleReader, maxKeys: config.maxKeys });
  const keys = createKeys({ state, clock, audit, organizations, roleReader, writer: keyWriter });
  const lastUsed = createLastUsed({ state, clock, log, table: 'api_keys' });
  const services = createServices({ state, audit, organizations });
  const roles = createRoles({
    state,
    clock,
    audit,
    organizations,
    assignments: createRoleAssignments({ writer: keyWriter }),
    listExistingServiceIds,
    listOtherHolders: (tx, organizationId, id) => listRoleHolders(tx, organizationId, id, clock.now()),
  });
  const serviceLifecycle = createServiceLifecycle({
    state,
    clock,
    audit,
    organizations,
    maxServices: config.maxServices,
    transitionMs: config.simulatedTransitionMs,
    defaultDriver: config.defaultDriver,
    findRestorable,
  });
  const drivenServices = createDrivenServices({ state, audit });
  const serviceSettings = createServiceSettings({ state, audit, keys });
  const costs = createCosts({ db, services });
  const prices = createPrices({ state, clock, audit, organizations });
  const reports = createReports({ db, organizations, services, prices });
  const forecasts = createForecasts({ summaries: reports.summaries, clock });
  const allowPrivate = config.webhookAllowPrivate ?? false;
  const smtp = config.smtpUrl && config.smtpFrom ? { url: config.smtpUrl, from: config.smtpFrom } : undefined;
  const notifications = createNotifications({
    state,
    clock,
    audit,
    organizations,
    log,
    allowPrivate,
    smtp,
    listChannelUsers: async (...channel) =>
      (await Promise.all([listBudgetsUsingChannel(...channel), listAlertsUsingChannel(...channel)])).flat(),
    prepareChannelRemoval: (...channel) => observability.alertRemoval.prepareLeave(...channel),
    findOwnWebhook: findBudgetWebhook,
  });
  const budgets = createBudgets({
    state,
    clock,
    audit,
    organizations,
    summaries: reports.summaries,
    forecasts,
    notifications,
    log,
    allowPrivate,
  });
  const scalingCosts = createScalingCosts({ db: state.db, services, serviceLifecycle, prices, clock });
  const running = createRunningDomains({
    state,
    clock,
    log,
    audit,
    organizations,
    services,
    prices,
    hasSqlStorage: hasSqlStorage(config),
    dataDirectory: config.dataDirectory,
  });
  const serviceMetrics = createServiceMetrics({ db, services, clock });
  const entities = createEntities({ db, services });
  const usage = createUsageDomains({
    state,
    engine,
    nodeClock,
    log,
    audit,
    organizations,
    entities,
    observeRating,
    engineOwnerNode,
    config,
  });
  const observability = createObservability({
    state,
    engine,
    clock,
    log,
    audit,
    organizations,
    services,
    intake: usage.intake,
    notifications,
    summaries: reports.summaries,
    rateCounter,
    observeIngest,
    config,
  });
  const people = createPeople({
    state,
    clock,
    log,
    audit,
    organizations,
    roleReader,
    keys: createKeyVerifier({ db, clock, lastUsed, roleReader }),
    tokens: createTokenVerifier({ db, clock, lastUsed: observability.tokensLastUsed }),
    smtp,
    config,
  });
  const security = createSecurity({ state, clock, log, audit, organizations, sessions: people.sessions });
  const declared = { state, clock, audit, organizations, alertRemoval: observability.alertRemoval };
  const fleet = createFleet({ ...declared, log });
  const setup = createSetup({ state, clock, organizations, fleet });
  const retention = createRetention({
    log,
    parts: [
      createAuditRetention({ state, clock, audit, organizations, log, days: config.auditRetentionDays }),
      createVersionRetention({ state, clock, log, days: config.versionRetentionDays }),
      createNotificationRetention({ state, clock, organizations, log }),
      observability.telemetryRetention,
      observability.alertRetention,
    ],
  });
  return {
    organizations,
    audit,
    keptResponses,
    keys,
    roles,
    roleReader,
    lastUsed,
    services,
    serviceLifecycle,
    serviceSettings,
    drivenServices,
    costs,
    prices,
    reports,
    forecasts,
    notifications,
    budgets,
    scalingCosts,
    ...running,
    serviceMetrics,
    ...usage,
    ...people,
    ...security,
    fleet,
    applyAlertFiles: createFolderAlerts(declared),
    setup,
    retention,
    ...observability,
    engine,
    /** Stops the background work and stores pending updates. */
    async close(): Promise<void> {
      await observability.ingest.close();
      await observability.telemetryMetering.close();
      await budgets.close();
      await observability.evaluator.close();
      await notifications.close();
      await usage.rater.close();
      await retention.close();
      await usage.engineOwner.close();
      await keptResponses.close();
      await Promise.all(
        [
          lastUsed,
          observability.tokensLastUsed,
          observability.linksLastUsed,
          people.membersLastSeen,
          people.sessionsLastSeen,
          security.failedSignIns,
          security.hourlyCounts,
          running.statementLog,
        ].map((part) => part.close()),
      );
    },
  };
}
