import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { GB_PER_UNIT } from '../billing/forecast/scaling-estimate.ts';
import type { Metric } from '../billing/meter.ts';
import type { Intake } from '../billing/metering/intake.ts';
import type { Observed } from '../drivers/driver.ts';
import { createBackgroundLoop } from '../kernel/background-loop.ts';
import { type Clock, HOUR_MS, MINUTE_MS, SECOND_MS } from '../kernel/clock.ts';
import type { Service } from '../services/service.ts';

interface Options {
  intake: Pick<Intake, 'ingest'>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  /** Bytes that were sent to clients of the service since its endpoint was opened. */
  countSentBytes(serviceId: string): number | undefined;
}

/** What is metered of one service, from `since` on. */
interface Meter {
  organizationId: string;
  dataWarehouseId: string;
  /** Epoch milliseconds. */
  since: number;
  /** The memory of all replicas in GB; 0 while the service does not run. */
  gb: number;
  storedBytes: number | undefined;
  sentBytes: number;
}

interface UsageEvent {
  id: string;
  source: 'pilothouse';
  time: string;
  entityType: 'service' | 'datawarehouse';
  entityId: string;
  meter: Metric;
  quantity: string;
}

/** How long a shutdown waits for the engine. */
const LAST_FLUSH_MS = 3 * SECOND_MS;

/** About a day of one service without an engine. Older events are dropped, with a warning. */
const MAX_PENDING = 5000;

/**
 * Measures compute, storage and transfer of the services that this process is responsible for, and sends them as usage
 * events every minute. An event is named after the start of its time, so sending it again counts nothing twice.
 */
export function createServiceMetering({ intake, clock, log, countSentBytes }: Options) {
  const meters = new Map<string, Meter>();
  const pending = new Map<string, UsageEvent[]>();

  const loop = createBackgroundLoop({
    run: flush,
    everyMs: MINUTE_MS,
    onError: (error) => log.warn({ reason: (error as Error).message }, 'failed to store the usage of services'),
  });

  /** Meters everything up to now with the size so far. Slices end with each minute, so that each belongs to one day. */
  function advance(serviceId: string, meter: Meter, now: number): void {
    while (meter.since < now) {
      const end = Math.min((Math.floor(meter.since / MINUTE_MS) + 1) * MINUTE_MS, now);
      addSlice(serviceId, meter, end);
      meter.since = end;
    }
  }

  function addSlice(serviceId: string, meter: Meter, end: number): void {
    const { organizationId, dataWarehouseId, since, gb, storedBytes = 0 } = meter;
    const sentBytes = countSentBytes(serviceId) ?? meter.sentBytes;
    const add = (entityType: UsageEvent['entityType'], entityId: string, name: Metric, quantity: number) => {
      if (quantity <= 0) return;
      const id = `${serviceId}/${name}/${since}`;
      const time = new Date(end - 1).toISOString();
      const event = { id, source: 'pilothouse', time, entityType, entityId, meter: name } as const;
      put(organizationId, { ...event, quantity: quantity.toFixed(6) });
    };
    add('service', serviceId, 'compute', (gb / GB_PER_UNIT) * ((end - since) / MINUTE_MS));
    add('datawarehouse', dataWarehouseId, 'storage', storedBytes * ((end - since) / HOUR_MS));
    add('service', serviceId, 'publicDataTransfer', Math.max(0, sentBytes - meter.sentBytes));
    meter.sentBytes = sentBytes;
  }

  function put(organizationId: string, event: UsageEvent): void {
    const events = pending.get(organizationId) ?? [];
    pending.set(organizationId, events);
    events.push(event);
    if (events.length <= MAX_PENDING) return;
    events.shift();
    log.warn({ organizationId }, 'usage of services is dropped: the engine has not accepted any for a long time');
  }

  async function flush(): Promise<void> {
    const now = clock.now();
    for (const [serviceId, meter] of meters) advance(serviceId, meter, now);
    for (const [organizationId, events] of pending) {
      const sent = events.map((event) => JSON.stringify(event));
      if (sent.length === 0) continue;
      await intake.ingest(organizationId, () => sent.values());
      events.splice(0, sent.length);
    }
  }

  return {
    start: loop.start,

    /** The size counts from now on; the time since the previous observation counts with the previous size. */
    observed({ id, organizationId, dataWarehouseId }: Readonly<Service>, observed: Observed): void {
      const now = clock.now();
      const isRunning = observed.state === 'running' || observed.state === 'resizing';
      const gb = isRunning ? (observed.memoryGb ?? 0) * (observed.replicas ?? 1) : 0;
      const meter = meters.get(id);
      if (meter) advance(id, meter, now);
      const next = meter ?? { organizationId, dataWarehouseId, since: now, sentBytes: countSentBytes(id) ?? 0 };
      meters.set(id, { ...next, gb, storedBytes: observed.load?.storedBytes ?? meter?.storedBytes });
    },

    /** Stops metering a service that this process is no longer responsible for. */
    released(id: string): void {
      const meter = meters.get(id);
      if (meter) advance(id, meter, clock.now());
      meters.delete(id);
    },

    /** Sends what was measured so far. */
    flush: loop.trigger,

    /** Sends the last usage, unless the engine does not answer. */
    async close(): Promise<void> {
      await Promise.race([loop.trigger(), delay(LAST_FLUSH_MS, undefined, { ref: false })]);
      void loop.close();
    },
  };
}
