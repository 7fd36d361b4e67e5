import { needsDashboardRole, needsKeySession } from '../console/authentication.ts';
import { memberSessionRoutes } from '../console/member-session-routes.ts';
import type { RateCounter } from '../kernel/rate-counter.ts';
import type { Clock } from '../kernel/time/clock.ts';
import { auditRoutes } from '../management/audit/routes.ts';
import { budgetRoutes } from '../management/billing/budgets/routes.ts';
import { forecastRoutes } from '../management/billing/forecast/routes.ts';
import { meteringRoutes } from '../management/billing/metering/routes.ts';
import { prometheusRoutes } from '../management/billing/prometheus/routes.ts';
import { usageLockRoutes, usageWarningRoutes } from '../management/billing/rating/routes.ts';
import type { UsageWarning } from '../management/billing/rating/usage-warnings.ts';
import { reportRoutes } from '../management/billing/reports/routes.ts';
import { billingRoutes } from '../management/billing/routes.ts';
import { createKeyAuthentication } from '../management/keys/authentication.ts';
import { keyRoutes } from '../management/keys/routes.ts';
import { invitationRoutes } from '../management/members/invitation-routes.ts';
import { memberRoutes } from '../management/members/routes.ts';
import { whoamiRoutes } from '../management/members/whoami-routes.ts';
import { clickStackWebhookRoutes } from '../management/notifications/clickstack-routes.ts';
import { notificationRoutes } from '../management/notifications/notification-routes.ts';
import { webhookRoutes } from '../management/notifications/routes.ts';
import { organizationRoutes } from '../management/organizations/routes.ts';
import { OrganizationPath } from '../management/organizations/schema.ts';
import { roleRoutes } from '../management/roles/routes.ts';
import { serviceLifecycleRoutes } from '../management/services/lifecycle/lifecycle-routes.ts';
import { serviceRoutes } from '../management/services/routes.ts';
import { ServicePath } from '../management/services/schema.ts';
import { serviceSettingsRoutes } from '../management/services/settings/settings-routes.ts';
import { alertActionRoutes } from '../observability/alerts/action-routes.ts';
import { clickStackAlertRoutes } from '../observability/alerts/clickstack-routes.ts';
import { alertRoutes } from '../observability/alerts/routes.ts';
import { annotationRoutes } from '../observability/annotations/routes.ts';
import { chartRoutes } from '../observability/charts/routes.ts';
import { clickStackDashboardRoutes } from '../observability/dashboards/clickstack-routes.ts';
import { dashboardReadRoutes } from '../observability/dashboards/read-routes.ts';
import { dashboardRoutes } from '../observability/dashboards/routes.ts';
import { templateRoutes } from '../observability/dashboards/template-routes.ts';
import { versionRoutes } from '../observability/dashboards/versions/version-routes.ts';
import { limitsRoutes } from '../observability/ingest/limits/limits-routes.ts';
import { needsIngestToken } from '../observability/ingest/otlp-responses.ts';
import { telemetryRoutes } from '../observability/ingest/report/routes.ts';
import { retentionRoutes } from '../observability/ingest/retention-routes.ts';
import { otlpRoutes } from '../observability/ingest/routes.ts';
import { rulesRoutes } from '../observability/ingest/rules/rules-routes.ts';
import { MAX_REQUEST_BYTES } from '../observability/ingest/transcode.ts';
import { linkRoutes } from '../observability/links/routes.ts';
import { metricPointRoutes } from '../observability/search/points/point-routes.ts';
import { searchRoutes } from '../observability/search/routes.ts';
import { clickStackSavedSearchRoutes } from '../observability/search/saved/clickstack-routes.ts';
import { savedSearchRoutes } from '../observability/search/saved/saved-search-routes.ts';
import { tailRoutes } from '../observability/search/tail/tail-routes.ts';
import { clickStackSourceRoutes } from '../observability/sources/clickstack-routes.ts';
import { connectionRoutes } from '../observability/sources/connection-routes.ts';
import { sourceRoutes } from '../observability/sources/routes.ts';
import {
  createTokenAuthentication,
  needsWriteToken,
  readBearerOrBare,
} from '../observability/tokens/authentication.ts';
import { tokenRoutes } from '../observability/tokens/routes.ts';
import { traceRoutes } from '../observability/traces/routes.ts';
import { organizationChangeRoutes } from '../operations/fleet/routes.ts';
import { createAuthorizationCheck, formatMissingKeyRole, type GuardOptions } from '../platform/http/guard.ts';
import { dashboards as dashboardApi, management } from '../platform/http/interfaces.ts';
import { prefixIds } from '../platform/http/limits/rate-counter.ts';
import { createOrganizationReader } from '../platform/http/requests/service-organization.ts';
import type { Routes } from '../platform/http/requests/validation.ts';
import {
  unsupportedDashboardRoutes,
  unsupportedManagementRoutes,
} from '../platform/http/responses/unsupported-routes.ts';
import type { State } from '../platform/state/state.ts';
import { autoscalingRoutes } from '../running/autoscaling/routes.ts';
import { backupRoutes } from '../running/backups/routes.ts';
import { queryEndpointRoutes } from '../running/queries/query-endpoint-routes.ts';
import { sqlRoutes } from '../running/queries/routes.ts';
import { savedQueryRoutes } from '../running/queries/saved-query-routes.ts';
import { createStatements, type StatementOptions } from '../running/queries/statements.ts';
import { type LogRouteOptions, logRoutes } from '../running/reconciliation/log-routes.ts';
import { type IdleRouteOptions, idleRoutes } from '../running/reconciliation/routes.ts';
import type { Domains } from './domains.ts';
import { createLogReader } from './drivers.ts';
import type { Config } from './settings/config.ts';

/** A group of routes with one way to authenticate and one body limit. */
export interface MountedInterface {
  documentPaths: string[];
  guard: GuardOptions;
  /** What its clients send, unless they have a session. */
  credential: 'key' | 'token';
  bodyLimitBytes: number;
  routes: Routes[];
}

export type SharedGuard = Pick<GuardOptions, 'rate' | 'attempts' | 'clock' | 'clientAddress' | 'session'>;
/** What the routes of the interfaces need. */
export interface InterfaceOptions {
  config: Pick<Config, 'basePath' | 'dataDirectory'> & Partial<Pick<Config, 'dashboardPort'>>;
  clock: Clock;
  state: State;
  domains: Domains;
  /** Of the process that does the background work, which may be another one. */
  findIdleStatus: IdleRouteOptions['findIdleStatus'];
  listSlowQueries: LogRouteOptions['listSlowQueries'];
  findSqlAccess: StatementOptions['findSqlAccess'];
  cancelStatement: StatementOptions['cancelStatement'];
  listUsageWarnings(organizationId?: string): Promise<UsageWarning[]>;
  /** Counts for several processes; without it, this process counts for itself. */
  rateCounter: RateCounter | undefined;
}

export function createManagement(options: InterfaceOptions, shared: SharedGuard): MountedInterface {
  const { config, state, clock, domains, findIdleStatus, listSlowQueries, listUsageWarnings, rateCounter } = options;
  const statements = createStatements({ ...options, ...domains });
  return {
    documentPaths: ['/v1'],
    credential: 'key',
    guard: {
      ...shared,
      counter: prefixIds(rateCounter, 'management'),
      authenticate: createKeyAuthentication({ ...domains, db: state.db, clock }),
      formatMissingRole: needsKeySession(formatMissingKeyRole),
      challenge: 'Basic realm="pilothouse", charset="UTF-8"',
    },
    bodyLimitBytes: management.bodyLimitBytes,
    routes: [
      organizationRoutes(domains),
      organizationChangeRoutes(domains),
      serviceRoutes({ ...domains, clock }),
      serviceLifecycleRoutes({ ...domains, clock }),
      serviceSettingsRoutes({ ...domains, clock }),
      autoscalingRoutes(domains),
      backupRoutes(domains),
      idleRoutes({ ...domains, findIdleStatus, clock }),
      logRoutes({ ...domains, ...createLogReader(config), listSlowQueries }),
      sqlRoutes({ ...domains, statements }),
      savedQueryRoutes(domains),
      keyRoutes({ ...domains, clock }),
      whoamiRoutes(domains),
      roleRoutes(domains),
      memberRoutes(domains),
      invitationRoutes(domains),
      memberSessionRoutes(domains),
      billingRoutes(domains),
      prometheusRoutes({ ...domains, basePath: config.basePath }),
      reportRoutes(domains),
      forecastRoutes({ ...domains, clock }),
      budgetRoutes(domains),
      meteringRoutes(domains),
      usageLockRoutes(domains),
      usageWarningRoutes({ usageWarnings: { list: listUsageWarnings } }),
      auditRoutes(domains),
      tokenRoutes({ ...domains, clock }),
      retentionRoutes(domains),
      limitsRoutes(domains),
      rulesRoutes(domains),
      telemetryRoutes(domains),
      clickStackDashboardRoutes(domains),
      clickStackSourceRoutes(domains),
      clickStackSavedSearchRoutes(domains),
      clickStackAlertRoutes({ ...domains, clock }),
      clickStackWebhookRoutes(domains),
      unsupportedManagementRoutes({
        organizationPath: OrganizationPath,
        servicePath: ServicePath,
        getService: createOrganizationReader(domains.services),
      }),
    ],
  };
}

export function createDashboardInterface(
  { config, state, clock, domains, rateCounter }: InterfaceOptions,
  shared: SharedGuard,
): MountedInterface {
  const authenticate = createTokenAuthentication({ db: state.db, clock, lastUsed: domains.tokensLastUsed });
  return {
    documentPaths: [],
    credential: 'token',
    guard: {
      ...shared,
      counter: prefixIds(rateCounter, 'dashboards'),
      authenticate,
      formatMissingRole: needsDashboardRole(needsWriteToken),
      challenge: 'Bearer realm="pilothouse"',
    },
    bodyLimitBytes: dashboardApi.bodyLimitBytes,
    routes: [
      dashboardReadRoutes(domains),
      dashboardRoutes(domains),
      versionRoutes(domains),
      templateRoutes,
      sourceRoutes(domains),
      connectionRoutes(),
      chartRoutes({ ...domains, clock }),
      traceRoutes({ ...domains, clock }),
      searchRoutes(domains),
      metricPointRoutes(domains),
      tailRoutes({ ...domains, isAuthorized: createAuthorizationCheck({ ...shared, authenticate }) }),
      savedSearchRoutes(domains),
      alertRoutes({ ...domains, clock }),
      alertActionRoutes({ ...domains, clock }),
      webhookRoutes(domains),
      notificationRoutes(domains),
      annotationRoutes({ ...domains, clock }),
      // The page of a link is part of the console, which has no dashboards if they have a port of their own.
      ...(config.dashboardPort === undefined ? [linkRoutes({ ...domains, basePath: config.basePath })] : []),
      unsupportedDashboardRoutes,
    ],
  };
}

/** The query endpoints of services: keys only, which each endpoint names. */
export function createQueryEndpointInterface(options: InterfaceOptions, shared: SharedGuard): MountedInterface {
  const { state, clock, domains, rateCounter } = options;
  const { session, ...guard } = shared;
  return {
    documentPaths: [],
    credential: 'key',
    guard: {
      ...guard,
      counter: prefixIds(rateCounter, 'management'),
      authenticate: createKeyAuthentication({ ...domains, db: state.db, clock }),
      challenge: 'Basic realm="pilothouse", charset="UTF-8"',
    },
    bodyLimitBytes: management.bodyLimitBytes,
    routes: [queryEndpointRoutes({ ...domains, statements: createStatements({ ...options, ...domains }) })],
  };
}

/** Tokens only: no sessions, and no limit on the number of requests. */
export function createOtlpInterface(
  { state, clock, domains }: InterfaceOptions,
  { attempts, clientAddress }: SharedGuard,
  owns: 'every path' | 'its paths' = 'its paths',
): MountedInterface {
  return {
    documentPaths: [],
    credential: 'token',
    guard: {
      attempts,
      clientAddress,
      clock,
      rate: undefined,
      authenticate: createTokenAuthentication({
        db: state.db,
        clock,
        lastUsed: domains.tokensLastUsed,
        readToken: readBearerOrBare,
      }),
      formatMissingRole: needsIngestToken,
      challenge: 'Bearer realm="pilothouse"',
    },
    bodyLimitBytes: MAX_REQUEST_BYTES,
    routes: [otlpRoutes({ ...domains, ownsEveryPath: owns === 'every path' })],
  };
}
