import type { Logger } from 'pino';
import { AppError } from '../../kernel/errors.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { type Clock, HOUR_MS, isoTime, MINUTE_MS, SECOND_MS } from '../../kernel/time/clock.ts';
import type { State } from '../../platform/state/state.ts';
import type { Organizations } from '../organizations/organizations.ts';
import type { Actor } from './activity.ts';
import type { Audit } from './audit.ts';
import { COUNTED_TYPES, type CountKey, type HourlyCount, mergeCounts } from './hourly-count.ts';
import { addCount, deleteCounts, listEndedCounts, takeCount } from './hourly-count-store.ts';

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Pick<Organizations, 'lock'>;
  log: Pick<Logger, 'warn'>;
}

/** One occurrence. Its subject exists, so the number of different ones is bounded by the store. */
interface Occurrence extends Omit<CountKey, 'hour'>, Pick<HourlyCount, 'name' | 'credential'> {
  reason: string;
  address: string;
}

/** A crash loses what was counted within this time. */
const FLUSH_AFTER_MS = 5 * SECOND_MS;
/** Counts of this process that are not stored yet; occurrences of further subjects are dropped. */
const MAX_PENDING = 2000;
const COUNTS_PER_WRITE = 100;
const SETTLE_EVERY_MS = MINUTE_MS;
/** Other processes store their counts of the hour meanwhile. */
const SETTLE_DELAY_MS = MINUTE_MS;
const SERVER: Actor = { type: 'system', id: 'server', details: 'Server' };

export type HourlyCounts = ReturnType<typeof createHourlyCounts>;

/**
 * Counts what would be too much for the audit log one by one. All processes add to the same rows of the store; after the
 * hour, each row becomes one activity. No request waits for it.
 */
export function createHourlyCounts({ state, clock, audit, organizations, log }: Options) {
  let pending = new Map<string, HourlyCount>();
  let dropped = 0;

  const flushing = createBackgroundLoop({
    run: flush,
    onError(error) {
      log.warn({ err: error }, 'failed to store what is counted for the audit log');
      flushing.schedule(FLUSH_AFTER_MS);
    },
  });
  const settling = createBackgroundLoop({
    run: settle,
    everyMs: SETTLE_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'failed to record what was counted in the audit log'),
  });

  async function flush(): Promise<void> {
    const counts = pending;
    pending = new Map();
    if (dropped > 0) log.warn({ dropped }, 'too many different refused calls: some are not in the audit log');
    dropped = 0;
    const groups = groupByOrganization([...counts.values()]);
    try {
      for (const [organizationId, list] of groups) {
        await inOrganization(organizationId, async (tx) => {
          for (const count of list) await addCount(tx, count);
        });
        groups.delete(organizationId);
      }
    } finally {
      // What an error leaves is tried again.
      for (const count of [...groups.values()].flat()) add(count);
    }
  }

  /** Ended hours become activities. */
  async function settle(): Promise<void> {
    const before = clock.now() - HOUR_MS - SETTLE_DELAY_MS;
    for (;;) {
      const ended = await listEndedCounts(state.db, before + 1, COUNTS_PER_WRITE);
      for (const [organizationId, list] of groupByOrganization(ended))
        await inOrganization(organizationId, async (tx) => {
          for (const key of list) {
            const count = await takeCount(tx, key);
            if (count) await audit.record(tx, SERVER, toChange(count));
          }
        });
      if (ended.length < COUNTS_PER_WRITE) return;
    }
  }

  /** An organization that was deleted has no audit log. */
  async function inOrganization(organizationId: string, work: Parameters<State['write']>[0]): Promise<void> {
    await state.write(async (tx) => {
      try {
        await organizations.lock(tx, organizationId);
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'not_found')) throw error;
        return deleteCounts(tx, organizationId);
      }
      await work(tx);
    });
  }

  function add(count: HourlyCount): void {
    const id = toId(count);
    const known = pending.get(id);
    if (!known && pending.size >= MAX_PENDING) dropped++;
    else pending.set(id, known ? mergeCounts(known, count) : count);
  }

  return {
    count({ reason, address, ...subject }: Occurrence): void {
      const hour = Math.floor(clock.now() / HOUR_MS) * HOUR_MS;
      add({ ...subject, hour, reasons: { [reason]: 1 }, addresses: [address] });
      if (!flushing.isScheduled()) flushing.schedule(FLUSH_AFTER_MS);
    },

    /** Only the process with the background work turns counts into activities. */
    start: settling.start,
    /** Stores everything so far, and records the hours that have ended. */
    async settle(): Promise<void> {
      await flushing.trigger();
      await settling.trigger();
    },
    /** Stores everything so far. */
    async close(): Promise<void> {
      await flushing.trigger();
      await flushing.close();
      await settling.close();
    },
  };
}

const toId = ({ organizationId, type, subjectId, hour }: CountKey): string =>
  `${organizationId} ${type} ${subjectId} ${hour}`;

function groupByOrganization(counts: readonly HourlyCount[]): Map<string, HourlyCount[]> {
  const groups = new Map<string, HourlyCount[]>();
  for (const count of counts) groups.set(count.organizationId, [...(groups.get(count.organizationId) ?? []), count]);
  return groups;
}

const toChange = ({ organizationId, type, subjectId, hour, name, credential, reasons, addresses }: HourlyCount) => ({
  organizationId,
  type,
  resource: { type: COUNTED_TYPES[type], id: subjectId },
  after: {
    name,
    ...(credential !== undefined && { credential }),
    from: isoTime(hour),
    to: isoTime(hour + HOUR_MS),
    count: Object.values(reasons).reduce((sum, count) => sum + count, 0),
    ...(type === 'calls_refused' && { reasons }),
    addresses,
  },
});
