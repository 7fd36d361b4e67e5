import { newUuid } from '../../kernel/ids.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/time/clock.ts';
import { toUtcDay } from '../../kernel/time/days.ts';
import { GB_PER_UNIT } from '../../management/billing/forecast/scaling-estimate.ts';

/** In the units of the meters: unit-minutes, byte-hours and bytes. */
type Quantities = Record<'compute' | 'storage' | 'backup' | 'publicDataTransfer', number>;

const NOTHING: Readonly<Quantities> = { compute: 0, storage: 0, backup: 0, publicDataTransfer: 0 };

/** The usage of a service in a part of one UTC day. It grows until it ends; then it becomes usage events. */
export interface Slice {
  organizationId: string;
  serviceId: string;
  dataWarehouseId: string;
  /** Not a time: a clock that is set back must not repeat an id. */
  id: string;
  /** When it began, in epoch milliseconds: the day that it belongs to. */
  at: number;
  quantities: Quantities;
}

/** What is used since the last measurement. */
export interface Rate {
  /** The memory of all replicas; 0 while the service does not run. */
  gb: number;
  storedBytes: number;
  /** Of all its backups. */
  backupBytes: number;
}

/**
 * Measures the usage of one service. Durations are those of the monotonic clock, so a slice is never longer than the time
 * that has passed; the other clock only decides the day.
 */
export function createUsageMeter(
  owner: Pick<Slice, 'organizationId' | 'serviceId' | 'dataWarehouseId'>,
  startMs: number,
) {
  const meterId = newUuid();
  let slices = 0;
  let sinceMs = startMs;
  let open: Slice | undefined;
  /** The remainder below the precision of an event; it counts with the next event. */
  let rest: Quantities = { ...NOTHING };

  function begin(at: number): Slice {
    const slice = { ...owner, id: `${meterId}/${++slices}`, at, quantities: rest };
    rest = { ...NOTHING };
    return slice;
  }

  /** Ends the slice that grows; undefined if nothing was used. */
  function end(): Slice | undefined {
    const ended = open;
    open = undefined;
    if (!ended) return undefined;
    const quantities = { ...ended.quantities };
    for (const name of Object.keys(quantities) as (keyof Quantities)[]) {
      quantities[name] = roundDown(quantities[name]);
      rest[name] = ended.quantities[name] - quantities[name];
    }
    const slice = { ...ended, quantities };
    return isEmpty(slice) ? undefined : slice;
  }

  return {
    /**
     * Adds what was used up to now: `nowMs` by the monotonic clock, `now` in epoch milliseconds. Returns the slices that
     * ended, with their day or because the clock was set to another one.
     */
    add({ gb, storedBytes, backupBytes }: Rate, sentBytes: number, nowMs: number, now: number): Slice[] {
      const ended: (Slice | undefined)[] = [];
      let elapsedMs = Math.max(0, nowMs - sinceMs);
      sinceMs += elapsedMs;
      let at = now - elapsedMs;
      do {
        const partMs = Math.min(elapsedMs, DAY_MS - (at % DAY_MS));
        if (open && toUtcDay(open.at) !== toUtcDay(at)) ended.push(end());
        open ??= begin(at);
        open.quantities.compute += (gb / GB_PER_UNIT) * (partMs / MINUTE_MS);
        open.quantities.storage += storedBytes * (partMs / HOUR_MS);
        open.quantities.backup += backupBytes * (partMs / HOUR_MS);
        at += partMs;
        elapsedMs -= partMs;
      } while (elapsedMs > 0);
      open.quantities.publicDataTransfer += Math.max(0, sentBytes);
      return ended.filter((slice) => slice !== undefined);
    },

    end,

    /** The slice that grows, as it is now; undefined if nothing was used. */
    read: (): Slice | undefined =>
      open && !isEmpty(open) ? { ...open, quantities: { ...open.quantities } } : undefined,
  };
}

export type UsageMeter = ReturnType<typeof createUsageMeter>;

const isEmpty = ({ quantities }: Slice): boolean =>
  Object.values(quantities).every((quantity) => roundDown(quantity) <= 0);

/** Events have at most 6 decimals. */
const DECIMALS = 6;
const FACTOR = 10 ** DECIMALS;

/** Not `Math.floor` alone: it would make a rounded quantity such as 1.004866 smaller again. */
function roundDown(quantity: number): number {
  const nearest = Math.round(quantity * FACTOR);
  return (nearest / FACTOR <= quantity ? nearest : nearest - 1) / FACTOR;
}

/** The usage events of a slice. Sending them again counts nothing twice. The clock may have been set back since. */
export function listEvents({ serviceId, dataWarehouseId, id, at, quantities }: Slice, now: number) {
  const time = new Date(Math.min(at, now)).toISOString();
  return Object.entries(quantities)
    .filter(([, quantity]) => roundDown(quantity) > 0)
    .map(([meter, quantity]) => ({
      id: `${serviceId}/${meter}/${id}`,
      source: 'pilothouse',
      time,
      ...(meter === 'storage' || meter === 'backup'
        ? { entityType: 'datawarehouse', entityId: dataWarehouseId }
        : { entityType: 'service', entityId: serviceId }),
      meter,
      quantity: roundDown(quantity).toFixed(DECIMALS),
    }));
}
