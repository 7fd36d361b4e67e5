import { type Clock, DAY_MS, MINUTE_MS } from '../kernel/time/clock.ts';
import { listDaysBetween, toUtcDay } from '../kernel/time/days.ts';
import { listBudgets } from '../management/billing/budgets/store.ts';
import { addMicros, totalMicros } from '../management/billing/cost.ts';
import type { Summaries } from '../management/billing/reports/summaries.ts';
import { listKeys } from '../management/keys/store.ts';
import type { Service } from '../management/services/service.ts';
import { listServices } from '../management/services/store.ts';
import type { ConditionReader, ConditionReaders } from '../observability/alerts/conditions.ts';
import type { TelemetryReports } from '../observability/ingest/report/telemetry-report.ts';
import type { Db } from '../platform/state/tables.ts';
import { type Backup, getDueAt, isBackedUp } from '../running/backups/backup.ts';
import { listNewestBackups } from '../running/backups/store.ts';

interface Options {
  db: Db;
  clock: Clock;
  summaries: Summaries;
  telemetryReports: TelemetryReports;
  /** ClickHouse elsewhere can write backups to S3-compatible storage, with a key of its own. */
  hasSqlStorage: boolean;
}

/** What alerts can watch besides telemetry. A label is the name of a resource, with its id where names may repeat. */
export function createAlertConditions(options: Options): ConditionReaders {
  const { db, clock, summaries, telemetryReports, hasSqlStorage } = options;
  const services =
    (findSince: (service: Service) => number | undefined): ConditionReader =>
    async (organizationId) => {
      const now = clock.now();
      return (await listServices(db, organizationId)).map((service) => {
        const since = findSince(service);
        const value = since === undefined ? 0 : Math.max(0, (now - since) / MINUTE_MS);
        return { label: formatLabel(service), value };
      });
    };
  return {
    service_degraded_minutes: services(({ observed }) => (observed.state === 'degraded' ? observed.since : undefined)),
    service_waking_minutes: services(({ observed }) => (observed.state === 'awaking' ? observed.since : undefined)),
    service_drift_minutes: services(({ observed }) => observed.drift?.since),

    async service_backup_late_minutes(organizationId) {
      const newest = indexByService(await listNewestBackups(db, organizationId, ['done']));
      return services((service) =>
        isBackedUp(service, hasSqlStorage) ? getDueAt(service, newest.get(service.id)) : undefined,
      )(organizationId, NO_WINDOW);
    },

    async service_backup_failed_minutes(organizationId) {
      const newest = indexByService(await listNewestBackups(db, organizationId, ['done', 'error']));
      return services(({ id }) => {
        const last = newest.get(id);
        return last?.status === 'error' ? last.startedAt : undefined;
      })(organizationId, NO_WINDOW);
    },

    async key_expiry_days(organizationId) {
      const now = clock.now();
      return (await listKeys(db, organizationId)).flatMap(({ expireAt, ...key }) =>
        expireAt === undefined || expireAt <= now
          ? []
          : [{ label: formatLabel(key), value: (expireAt - now) / DAY_MS }],
      );
    },

    async budget_percent(organizationId) {
      const budgets = await listBudgets(db, organizationId);
      if (budgets.length === 0) return [];
      const today = toUtcDay(clock.now());
      const costs = await summaries.listDailyCosts(organizationId, listDaysBetween(`${today.slice(0, 7)}-01`, today));
      const spent = totalMicros(addMicros(costs));
      return budgets.map((budget) => ({ label: formatLabel(budget), value: (spent * 100) / budget.monthlyMicros }));
    },

    async rejected_telemetry_records(organizationId, { startMs, endMs }) {
      const { buckets } = await telemetryReports.getReport(organizationId, { from: startMs, to: endMs });
      const bySignal = new Map<string, number>();
      for (const { signal, rejectedRecords } of buckets)
        bySignal.set(signal, (bySignal.get(signal) ?? 0) + rejectedRecords);
      return ['logs', 'traces', 'metrics'].map((label) => ({ label, value: bySignal.get(label) ?? 0 }));
    },
  };
}

/** These conditions are about the present. */
const NO_WINDOW = { startMs: 0, endMs: 0 };

const indexByService = (backups: readonly Backup[]): Map<string, Backup> =>
  new Map(backups.map((backup) => [backup.serviceId, backup]));

const formatLabel = ({ name, id }: { name: string; id: string }): string => `${name} (${id})`;
