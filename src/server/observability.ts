import { join } from 'node:path';
import type { Logger } from 'pino';
import type { RateCounter } from '../kernel/rate-counter.ts';
import type { Clock } from '../kernel/time/clock.ts';
import type { Audit } from '../management/audit/audit.ts';
import type { Intake } from '../management/billing/metering/intake.ts';
import type { Summaries } from '../management/billing/reports/summaries.ts';
import type { Notifications } from '../management/notifications/notifications.ts';
import type { Organizations } from '../management/organizations/organizations.ts';
import type { Services } from '../management/services/services.ts';
import { createAnnotations } from '../observability/annotations/annotations.ts';
import { createCharts } from '../observability/charts/charts.ts';
import { createTelemetryQueries } from '../observability/charts/telemetry-queries.ts';
import { parseDashboard } from '../observability/dashboards/dashboard.ts';
import { createDashboardQuota } from '../observability/dashboards/dashboard-quota.ts';
import { createDashboardWriter } from '../observability/dashboards/dashboard-writer.ts';
import { createDashboards } from '../observability/dashboards/dashboards.ts';
import { createApplyDashboards } from '../observability/dashboards/files/apply-dashboards.ts';
import { createProvisioning } from '../observability/dashboards/files/provisioning.ts';
import { findDashboardUsingSource } from '../observability/dashboards/store.ts';
import { createVersions } from '../observability/dashboards/versions/versions.ts';
import { createIngest } from '../observability/ingest/ingest.ts';
import { createTelemetryLimits } from '../observability/ingest/limits/telemetry-limits.ts';
import { createTelemetryReports } from '../observability/ingest/report/telemetry-report.ts';
import { createTelemetryUsages } from '../observability/ingest/report/telemetry-usage.ts';
import { createTelemetryRetention } from '../observability/ingest/retention.ts';
import { createTelemetryRules } from '../observability/ingest/rules/telemetry-rules.ts';
import { createTelemetryMetering } from '../observability/ingest/telemetry-metering.ts';
import { createLinks } from '../observability/links/links.ts';
import { createSearchContext } from '../observability/search/context.ts';
import { createSearchExport } from '../observability/search/export.ts';
import { createFacets } from '../observability/search/facets/facets.ts';
import { createSearchHistogram } from '../observability/search/histogram.ts';
import { createMetricPoints } from '../observability/search/points/points.ts';
import { findSavedSearchUsingSource } from '../observability/search/saved/saved-search-store.ts';
import { createSavedSearches } from '../observability/search/saved/saved-searches.ts';
import { createSearch } from '../observability/search/search.ts';
import { createTail } from '../observability/search/tail/tail.ts';
import { createSources } from '../observability/sources/sources.ts';
import { createTokens } from '../observability/tokens/tokens.ts';
import { createTraces } from '../observability/traces/traces.ts';
import { createLastUsed } from '../platform/credentials/last-used.ts';
import type { Engine } from '../platform/engine/engine.ts';
import { createLocalRateCounter } from '../platform/http/limits/rate-counter.ts';
import type { State } from '../platform/state/state.ts';
import { createAlertAnnotations } from './alert-annotations.ts';
import { createAlertConditions } from './alert-conditions.ts';
import { createAlertDomain } from './alerts.ts';
import { createScalingAnnotations } from './scaling-annotations.ts';
import { hasSqlStorage } from './settings/backup-settings.ts';
import type { Config } from './settings/config.ts';

export interface ObservabilityOptions {
  state: State;
  engine: Engine;
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn'>;
  audit: Audit;
  organizations: Organizations;
  services: Services;
  intake: Intake;
  notifications: Notifications;
  summaries: Summaries;
  /** Counts for several processes. */
  rateCounter?: RateCounter | undefined;
  observeIngest?: Parameters<typeof createIngest>[0]['observe'];
  config: Pick<Config, 'dataDirectory'> &
    Partial<
      Pick<
        Config,
        | 'maxTokens'
        | 'maxDashboards'
        | 'maxSources'
        | 'backupStorage'
        | 'backupS3SqlCredentialsFile'
        | 'openTables'
        | 'publicUrl'
        | 'telemetryRetentionDays'
        | 'ingestRowsPerMinute'
        | 'ingestBytesPerMinute'
        | 'ingestAttributeKeys'
        | 'ingestMetricStreams'
      >
    >;
}

/** Commands that open the store themselves receive no telemetry. */
const DEFAULT_RETENTION_DAYS = 30;

/** Creates the domains of `/api/v2` and of received telemetry. */
export function createObservability({
  state,
  engine,
  clock,
  log,
  audit,
  organizations,
  services,
  intake,
  notifications,
  summaries,
  rateCounter,
  observeIngest,
  config,
}: ObservabilityOptions) {
  const tokens = createTokens({ state, clock, audit, organizations, maxTokens: config.maxTokens });
  const tokensLastUsed = createLastUsed({ state, clock, log, table: 'dashboard_tokens' });
  const sources = createSources({
    state,
    audit,
    organizations,
    findDashboardUsingSource,
    findSavedSearchUsingSource,
    maxSources: config.maxSources,
  });
  const dashboardWriter = createDashboardWriter({
    clock,
    audit,
    removeTileAlerts: (...changed) => alertDomain.alertRemoval.removeOfTiles(...changed),
  });
  const quota = createDashboardQuota({ maxDashboards: config.maxDashboards });
  const dashboards = createDashboards({ state, organizations, sources, writer: dashboardWriter, quota });
  const linksLastUsed = createLastUsed({ state, clock, log, table: 'dashboard_links' });
  const links = createLinks({ state, clock, audit, organizations, dashboards, lastUsed: linksLastUsed });
  const annotations = createAnnotations({
    state,
    clock,
    audit,
    organizations,
    dashboards,
    readers: {
      scaling: createScalingAnnotations({ audit, services }),
      alert: createAlertAnnotations({
        clock,
        listIncidents: (...asked) => alertDomain.listIncidents(...asked),
        consoleUrl: config.publicUrl,
      }),
    },
  });
  const versions = createVersions({ state, organizations, writer: dashboardWriter, quota });
  const queries = createTelemetryQueries({
    engine,
    clock,
    findSource: sources.findForQueries,
    openTables: config.openTables ?? [],
  });
  const charts = createCharts({
    clock,
    queries,
    getDashboard: async (organizationId, id) => parseDashboard(await dashboards.get(organizationId, id)),
  });
  const traces = createTraces({ queries });
  const search = createSearch({ clock, queries });
  const searchHistogram = createSearchHistogram({ clock, queries, charts });
  const facets = createFacets({ clock, queries, charts });
  const searchContext = createSearchContext({ queries });
  const searchExport = createSearchExport({ clock, queries });
  const metricPoints = createMetricPoints({ clock, queries });
  const tail = createTail({ engine, clock, log, queries });
  const savedSearches = createSavedSearches({
    state,
    clock,
    audit,
    organizations,
    sources,
    removeAlerts: (...deleted) => alertDomain.alertRemoval.removeOfSavedSearch(...deleted),
  });
  const telemetryRetention = createTelemetryRetention({
    state,
    engine,
    clock,
    audit,
    organizations,
    log,
    maxDays: config.telemetryRetentionDays ?? DEFAULT_RETENTION_DAYS,
  });
  const telemetryLimits = createTelemetryLimits({
    state,
    audit,
    organizations,
    maximum: {
      rowsPerMinute: config.ingestRowsPerMinute,
      bytesPerMinute: config.ingestBytesPerMinute,
      attributeKeysPerDay: config.ingestAttributeKeys,
      streamsPerDay: config.ingestMetricStreams,
    },
  });
  const telemetryRules = createTelemetryRules({ state, audit, organizations });
  const ingest = createIngest({
    engine,
    clock,
    log,
    async readPolicy(organizationId, signal) {
      const organization = await organizations.get(organizationId);
      return {
        retentionDays: telemetryRetention.apply(organization, signal),
        limits: telemetryLimits.apply(organization, signal),
        rules: telemetryRules.apply(organization, signal),
      };
    },
    observe: observeIngest,
    announce: tail.announce,
    engineDirectory: engine.kind === 'embedded' ? join(config.dataDirectory, 'engine') : undefined,
    counter: rateCounter ?? createLocalRateCounter(clock),
  });
  const telemetryMetering = createTelemetryMetering({ engine, intake, clock, log });
  const telemetryReports = createTelemetryReports({ engine, clock });
  const telemetryUsages = createTelemetryUsages({ engine, clock, limits: telemetryLimits });
  const alertDomain = createAlertDomain({
    state,
    clock,
    log,
    audit,
    organizations,
    notifications,
    queries,
    search,
    conditions: createAlertConditions({
      db: state.db,
      clock,
      summaries,
      telemetryReports,
      hasSqlStorage: hasSqlStorage(config),
    }),
    findDashboard: async (organizationId, id) => parseDashboard(await dashboards.get(organizationId, id)),
    findSavedSearch: async (organizationId, id) => (await savedSearches.get(organizationId, id)).content,
    consoleUrl: config.publicUrl,
  });
  const provisioning = createProvisioning({ state, organizations, sources, writer: dashboardWriter });
  const applyDashboards = createApplyDashboards({ state, organizations, sources, writer: dashboardWriter });
  return {
    tokens,
    tokensLastUsed,
    sources,
    dashboards,
    links,
    linksLastUsed,
    annotations,
    versions,
    charts,
    traces,
    search,
    facets,
    searchHistogram,
    searchContext,
    searchExport,
    metricPoints,
    tail,
    savedSearches,
    ingest,
    telemetryRetention,
    telemetryLimits,
    telemetryRules,
    telemetryMetering,
    telemetryReports,
    telemetryUsages,
    provisioning,
    applyDashboards,
    ...alertDomain,
  };
}
