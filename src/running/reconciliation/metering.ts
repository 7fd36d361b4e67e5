import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { MINUTE_MS, SECOND_MS } from '../../kernel/time/clock.ts';
import type { Intake } from '../../management/billing/metering/intake.ts';
import type { Observed } from '../../management/services/driver.ts';
import type { Service } from '../../management/services/service.ts';
import type { LeasedState, LeaseSession } from '../../platform/leases/session.ts';
import type { State } from '../../platform/state/state.ts';
import { countRunningGb } from '../drivers/running-memory.ts';
import { deleteSlices, deleteSlicesOfDeleted, listSlices, putSlices } from './slice-store.ts';
import { createUsageMeter, listEvents, type Rate, type Slice, type UsageMeter } from './usage-slice.ts';

interface Options {
  state: Pick<State, 'db' | 'clock'>;
  intake: Pick<Intake, 'ingest'>;
  log: Pick<Logger, 'warn'>;
  /** Bytes that were sent to clients of the service since its endpoint was opened. */
  countSentBytes(serviceId: string): number | undefined;
  /** The size of all backups of the service. */
  countBackupBytes(serviceId: string): number;
  /** Under which the usage of a service is stored. Undefined: another process measures it. */
  findSession(serviceId: string): LeaseSession | undefined;
}

/** What is measured of one service. */
interface Metered {
  session: LeaseSession;
  meter: UsageMeter;
  /** Since the last measurement. */
  rate: Omit<Rate, 'backupBytes'>;
  sentBytes: number;
}

/** What this session has measured. */
interface Measured {
  session: LeaseSession;
  slice: Slice;
}

/** A process that is killed, or that loses its lease, loses no more than this. */
const STORE_MS = 10 * SECOND_MS;
/** The pause between two sets of usage events. */
const SEND_MS = MINUTE_MS;
/** How long a shutdown waits for the engine. */
const LAST_SEND_MS = 3 * SECOND_MS;
const SERVICES_AT_ONCE = 1000;

/**
 * Measures compute, storage and transfer of the services that this process is responsible for. What was measured is
 * stored every ten seconds and becomes usage events every minute. While the engine does not accept them, the stored usage
 * waits; what a process leaves is sent by the next one that is responsible for the service.
 */
export function createServiceMetering(options: Options) {
  const { state, intake, log, countSentBytes, countBackupBytes, findSession } = options;
  const { clock } = state;
  const metered = new Map<string, Metered>();
  /** Slices that have ended and are not stored yet. Few: no further ones end while the store fails, except at midnight. */
  let ended: Measured[] = [];
  let sentAtMs: number | undefined;
  let isStoreFailing = false;
  let isSendFailing = false;
  let isClosing = false;

  const loop = createBackgroundLoop({
    run: pass,
    everyMs: STORE_MS,
    onError(error) {
      const reason = (error as Error).message;
      log.warn(
        { reason },
        isClosing ? 'usage of services is sent after the next start' : 'failed to store the usage of services',
      );
    },
  });

  async function pass(): Promise<void> {
    await measureAll();
    const isDue = sentAtMs === undefined || clock.monotonicMs() - sentAtMs >= SEND_MS;
    if (isDue && !isStoreFailing && !isSendFailing)
      for (const { session, meter } of metered.values()) keep(session, meter.end());
    await store();
    if (isDue) await send();
  }

  async function measureAll(): Promise<void> {
    for (const [id, { session }] of [...metered]) {
      if (await session.confirm()) measure(id);
      else release(id);
    }
  }

  /** Adds what was used since the last measurement. Only while its session is confirmed. */
  function measure(id: string): void {
    const service = metered.get(id);
    if (!service) return;
    const sentBytes = countSentBytes(id) ?? service.sentBytes;
    // A counter starts again when the endpoint is opened again.
    const added = sentBytes - service.sentBytes;
    service.sentBytes = sentBytes;
    const rate = { ...service.rate, backupBytes: countBackupBytes(id) };
    for (const slice of service.meter.add(rate, added, clock.monotonicMs(), clock.now())) keep(service.session, slice);
  }

  function keep(session: LeaseSession, slice: Slice | undefined): void {
    if (slice) ended.push({ session, slice });
  }

  async function store(): Promise<void> {
    // Another process measures these services, and may have sent what this one stored last.
    ended = ended.filter(({ session }) => session.isHeld());
    const storing = [...ended];
    const growing = [...metered.values()].flatMap(({ session, meter }) => {
      const slice = meter.read();
      return slice && session.isHeld() ? { session, slice } : [];
    });
    isStoreFailing = true;
    for (const [session, measured] of groupBySession([...storing, ...growing]))
      await session.state.write((tx) =>
        putSlices(
          tx,
          measured.map(({ slice }) => slice),
        ),
      );
    isStoreFailing = false;
    ended = ended.filter((measured) => !storing.includes(measured));
  }

  /** Sends the stored slices that do not grow any more, also those that another process has left. */
  async function send(): Promise<void> {
    sentAtMs = clock.monotonicMs();
    const failures: unknown[] = [];
    isSendFailing = true;
    for (const [session, services] of groupBySession([...metered].map(([id, { session }]) => ({ session, id }))))
      await sendOfSession(
        session,
        services.map(({ id }) => id),
      ).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
    isSendFailing = false;
  }

  async function sendOfSession({ state: leased }: LeaseSession, serviceIds: readonly string[]): Promise<void> {
    await leased.write(deleteSlicesOfDeleted);
    const failures: unknown[] = [];
    for (const ids of toChunks(serviceIds, SERVICES_AT_ONCE)) {
      // Slices of this process whose last part is not stored.
      const growing = ids.map((id) => metered.get(id)?.meter.read());
      const incomplete = new Set([...growing, ...ended.map(({ slice }) => slice)].map((slice) => slice?.id));
      const slices = (await listSlices(state.db, ids)).filter(({ id }) => !incomplete.has(id));
      for (const organizationId of new Set(slices.map((slice) => slice.organizationId))) {
        const own = slices.filter((slice) => slice.organizationId === organizationId);
        await sendSlices(leased, organizationId, own).catch((error: unknown) => failures.push(error));
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** A slice that is sent again, because this process lost the lease after it was sent, counts once. */
  async function sendSlices(leased: LeasedState, organizationId: string, slices: readonly Slice[]): Promise<void> {
    const now = clock.now();
    const events = slices.flatMap((slice) => listEvents(slice, now)).map((event) => JSON.stringify(event));
    const { rejected, errors } = await intake.ingest(organizationId, () => events.values());
    if (rejected > 0)
      log.warn({ organizationId, rejected, reason: errors[0]?.reason }, 'usage of services is rejected');
    await leased.write((tx) => deleteSlices(tx, slices));
  }

  /** What was measured so far is kept; what was used since then is measured by the process that is responsible now. */
  function release(id: string): void {
    const service = metered.get(id);
    if (service) keep(service.session, service.meter.end());
    metered.delete(id);
  }

  /** Sends what was measured so far. */
  function flush(): Promise<void> {
    sentAtMs = undefined;
    return loop.trigger();
  }

  return {
    start: loop.start,

    /** The size counts from now on; the time since the previous observation counts with the previous size. */
    observed({ id, organizationId, dataWarehouseId }: Readonly<Service>, observed: Observed): void {
      const gb = countRunningGb(observed);
      const session = findSession(id);
      if (!session) return;
      // What an earlier session has measured is not continued: another process may have measured since then.
      if (metered.get(id)?.session !== session) release(id);
      measure(id);
      const service = metered.get(id);
      const storedBytes = observed.load?.storedBytes ?? service?.rate.storedBytes ?? 0;
      if (service) {
        service.rate = { gb, storedBytes };
        return;
      }
      const meter = createUsageMeter({ organizationId, serviceId: id, dataWarehouseId }, clock.monotonicMs());
      metered.set(id, { session, meter, rate: { gb, storedBytes }, sentBytes: countSentBytes(id) ?? 0 });
      // Another process may have left usage of this service.
      sentAtMs = undefined;
    },

    /** Stops metering a service that this process is no longer responsible for. */
    released: release,

    flush,

    /** Stores the last usage and sends it, unless the engine does not answer: then it is sent after the next start. */
    async close(): Promise<void> {
      isClosing = true;
      const finish = async () => {
        // A pass may be waiting for the engine; the store must not.
        await measureAll();
        for (const { session, meter } of metered.values()) keep(session, meter.end());
        await store().catch((error: Error) =>
          log.warn({ reason: error.message }, 'failed to store the usage of services'),
        );
        await flush();
      };
      await Promise.race([finish(), delay(LAST_SEND_MS, undefined, { ref: false })]);
      void loop.close();
    },
  };
}

function groupBySession<T extends { session: LeaseSession }>(values: readonly T[]): Map<LeaseSession, T[]> {
  const groups = new Map<LeaseSession, T[]>();
  for (const value of values) {
    const group = groups.get(value.session) ?? [];
    group.push(value);
    groups.set(value.session, group);
  }
  return groups;
}

function toChunks<T>(values: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < values.length; start += size) chunks.push(values.slice(start, start + size));
  return chunks;
}
