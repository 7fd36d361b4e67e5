import type { Logger } from 'pino';
import { rejectViolations } from '../../kernel/errors.ts';
import { type Clock, DAY_MS } from '../../kernel/time/clock.ts';
import { type Actor, difference } from '../../management/audit/activity.ts';
import type { Audit } from '../../management/audit/audit.ts';
import {
  type Organization,
  TELEMETRY_SIGNALS,
  type TelemetryRetention,
  type TelemetrySignal,
} from '../../management/organizations/organization.ts';
import type { Organizations } from '../../management/organizations/organizations.ts';
import type { Engine } from '../../platform/engine/engine.ts';
import type { State } from '../../platform/state/state.ts';
import { SIGNAL_TABLES } from './signal-tables.ts';

/** Days by signal; null for the retention of the server. */
type RetentionFields = { [signal in TelemetrySignal]?: number | null | undefined };

interface Options {
  state: State;
  engine: Engine;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  log: Pick<Logger, 'info'>;
  /** Of the server: its tables remove all rows after this many days. */
  maxDays: number;
}

export type Retention = ReturnType<typeof createTelemetryRetention>;

/** How long an organization keeps its logs, traces and metrics: as long as the server, or shorter. */
export function createTelemetryRetention({ state, engine, clock, audit, organizations, log, maxDays }: Options) {
  /** What applies. */
  const toDays = (retention: TelemetryRetention): Record<TelemetrySignal, number> => ({
    logs: Math.min(maxDays, retention.logs ?? maxDays),
    traces: Math.min(maxDays, retention.traces ?? maxDays),
    metrics: Math.min(maxDays, retention.metrics ?? maxDays),
  });

  async function removeOld(organizationId: string, signal: TelemetrySignal, days: number): Promise<void> {
    // Whole days: each removal makes the engine rewrite parts of its tables.
    const before = Math.floor((clock.now() - days * DAY_MS) / DAY_MS) * DAY_MS;
    const { time, tables, derived } = SIGNAL_TABLES[signal];
    const all = [...tables.map((table) => ({ table, time })), ...derived];
    for (const { table, time: column } of all)
      if (await engine.removeBefore(table, { organizationId, time: column, before }))
        log.info({ organizationId, table, days }, 'removed old telemetry');
  }

  return {
    maxDays,

    /** The days that an organization keeps a signal. */
    apply: ({ telemetryRetention }: Organization, signal: TelemetrySignal): number =>
      toDays(telemetryRetention)[signal],

    get: async (organizationId: string): Promise<Record<TelemetrySignal, number>> =>
      toDays((await organizations.get(organizationId)).telemetryRetention),

    /** Omitted signals keep their value. Rows that are older are removed within an hour. */
    async update(actor: Actor, organizationId: string, fields: RetentionFields) {
      rejectViolations(
        TELEMETRY_SIGNALS.filter((signal) => (fields[signal] ?? 0) > maxDays).map((signal) => ({
          path: signal,
          rule: `The value must be at most ${maxDays}, the retention of the server (--telemetry-retention)`,
          value: fields[signal],
        })),
      );
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const organization = await organizations.get(organizationId, tx);
        const before = organization.telemetryRetention;
        const applied = toDays(before);
        const after: TelemetryRetention = {};
        for (const signal of TELEMETRY_SIGNALS) {
          // A client that returns what it read does not set the retention of the server for good.
          const isKept = fields[signal] === undefined || fields[signal] === applied[signal];
          const days = isKept ? before[signal] : fields[signal];
          if (typeof days === 'number') after[signal] = days;
        }
        const changed = difference(before, after);
        if (Object.keys({ ...changed.before, ...changed.after }).length > 0) {
          await organizations.update(tx, { ...organization, telemetryRetention: after });
          await audit.record(tx, actor, {
            organizationId,
            type: 'telemetry_retention_update',
            resource: { type: 'organization', id: organizationId },
            ...changed,
          });
        }
        return toDays(after);
      });
    },

    /** Removes rows that are older than an organization keeps them. An engine that is not running is not started for it. */
    async run(): Promise<void> {
      if (!engine.isRunning()) return;
      for (const { id, telemetryRetention } of await organizations.listWithRetention()) {
        const days = toDays(telemetryRetention);
        for (const signal of TELEMETRY_SIGNALS) if (days[signal] < maxDays) await removeOld(id, signal, days[signal]);
      }
    },
  };
}
