import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../../kernel/time/clock.ts';
import type { Engine } from '../../platform/engine/engine.ts';
import type { Transcoded } from './wire/batch.ts';
import type { Signal } from './wire/otlp-messages.ts';

const WRITE_EVERY_MS = 2 * SECOND_MS;
/** Per write. Services and reasons beyond it are counted together. */
const MAX_ROWS = 10_000;

interface Origin {
  organizationId: string;
  tokenId: string;
  signal: Signal;
}

/** A row of `ingest_counts`. The engine adds up rows that differ in their numbers only. */
interface CountRow {
  OrganizationId: string;
  Time: string;
  Signal: Signal;
  TokenId: string;
  ServiceName: string;
  /** Empty for accepted records. */
  Reason: string;
  Records: number;
  Bytes: number;
  Sample: string;
}

interface Options {
  engine: Pick<Engine, 'insert'>;
  clock: Clock;
  log: { warn(details: object, text: string): void };
}

/** Counts what was accepted and rejected, per minute. What was not written when the process is killed is lost. Must be closed. */
export function createIngestCounts({ engine, clock, log }: Options) {
  let rows = new Map<string, CountRow>();

  function add({ organizationId, tokenId, signal }: Origin, { services, rejections }: Transcoded): void {
    const minute = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS;
    const shared = {
      OrganizationId: organizationId,
      Time: new Date(minute).toISOString(),
      Signal: signal,
      TokenId: tokenId,
    };
    for (const { name, records, bytes } of services)
      addRow({ ...shared, ServiceName: name, Reason: '', Records: records, Bytes: bytes, Sample: '' });
    for (const { reason, serviceName, records, sample } of rejections)
      addRow({ ...shared, ServiceName: serviceName, Reason: reason, Records: records, Bytes: 0, Sample: sample });
  }

  function addRow(row: CountRow): void {
    const named = rows.size < MAX_ROWS ? row : { ...row, ServiceName: '' };
    const key = [named.OrganizationId, named.Time, named.Signal, named.TokenId, named.ServiceName, named.Reason].join(
      '\n',
    );
    const known = rows.get(key);
    if (!known) rows.set(key, named);
    else {
      known.Records += row.Records;
      known.Bytes += row.Bytes;
    }
  }

  async function write(): Promise<void> {
    if (rows.size === 0) return;
    const written = [...rows.values()];
    rows = new Map();
    await engine.insert('ingest_counts', written);
  }

  const loop = createBackgroundLoop({
    run: write,
    everyMs: WRITE_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'counts of received telemetry could not be stored'),
  });
  loop.startAfterPause();

  return {
    add,
    async close(): Promise<void> {
      await loop.close();
      await write().catch(() => {});
    },
  };
}
