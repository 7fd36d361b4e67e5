import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { cutCharacters } from '../../kernel/text.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../../kernel/time/clock.ts';
import type { Engine } from '../../platform/engine/engine.ts';
import { OTHER_REASONS, type Transcoded } from './wire/batch.ts';
import type { Signal } from './wire/otlp-messages.ts';

const WRITE_EVERY_MS = 2 * SECOND_MS;
/** Per write. Services and reasons beyond it are counted together. */
const MAX_ROWS = 10_000;
const MAX_REASON_CHARACTERS = 200;

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

/** A row of `ingest_drops`: what was left out on purpose. */
interface DropRow {
  OrganizationId: string;
  Time: string;
  Signal: Signal;
  Kind: DropKind;
  /** The rule, or the key of the attribute. */
  Name: string;
  ServiceName: string;
  Records: number;
  Bytes: number;
}

type DropKind = 'rule' | 'attribute';

interface Options {
  engine: Pick<Engine, 'insert'>;
  clock: Clock;
  log: { warn(details: object, text: string): void };
}

/** Counts what was accepted and rejected, per minute. What was not written when the process is killed is lost. Must be closed. */
export function createIngestCounts({ engine, clock, log }: Options) {
  let rows = new Map<string, CountRow>();
  let drops = new Map<string, DropRow>();

  function toShared({ organizationId, tokenId, signal }: Origin) {
    const minute = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS;
    return {
      OrganizationId: organizationId,
      Time: new Date(minute).toISOString(),
      Signal: signal,
      TokenId: tokenId,
    };
  }

  function add(origin: Origin, { services, rejections, dropped, removed }: Transcoded): void {
    const shared = toShared(origin);
    for (const { name, records, bytes } of services)
      addRow({ ...shared, ServiceName: name, Reason: '', Records: records, Bytes: bytes, Sample: '' });
    for (const { reason, serviceName, records, bytes, sample } of rejections)
      addRow({ ...shared, ServiceName: serviceName, Reason: reason, Records: records, Bytes: bytes, Sample: sample });
    for (const { rule, serviceName, records, bytes } of dropped)
      addDrop(origin, 'rule', rule, serviceName, records, bytes);
    for (const { key, records, bytes } of removed) addDrop(origin, 'attribute', key, '', records, bytes);
  }

  function addDrop(
    origin: Origin,
    kind: DropKind,
    name: string,
    serviceName: string,
    records: number,
    bytes: number,
  ): void {
    const { OrganizationId, Time, Signal } = toShared(origin);
    const named = drops.size < MAX_ROWS ? name.slice(0, MAX_REASON_CHARACTERS).toWellFormed() : '';
    const service = drops.size < MAX_ROWS ? serviceName : '';
    const key = [OrganizationId, Time, Signal, kind, named, service].join('\n');
    const known = drops.get(key);
    if (known) {
      known.Records += records;
      known.Bytes += bytes;
      return;
    }
    const row = { OrganizationId, Time, Signal, Kind: kind, Name: named, ServiceName: service };
    drops.set(key, { ...row, Records: records, Bytes: bytes });
  }

  /** A request of which nothing was stored. How many records it has is not known. */
  function addRefused(origin: Origin, reason: string, bytes: number): void {
    addRow({
      ...toShared(origin),
      ServiceName: '',
      Reason: cutCharacters(reason, MAX_REASON_CHARACTERS),
      Records: 0,
      Bytes: bytes,
      Sample: '',
    });
  }

  function addRow(row: CountRow): void {
    const named = rows.size < MAX_ROWS ? row : { ...row, ServiceName: '', Reason: row.Reason && OTHER_REASONS };
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
    const [counted, dropped] = [[...rows.values()], [...drops.values()]];
    rows = new Map();
    drops = new Map();
    if (counted.length > 0) await engine.insert('ingest_counts', counted);
    if (dropped.length > 0) await engine.insert('ingest_drops', dropped);
  }

  const loop = createBackgroundLoop({
    run: write,
    everyMs: WRITE_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'failed to store the counts of received telemetry'),
  });
  loop.startAfterPause();

  return {
    add,
    addRefused,
    async close(): Promise<void> {
      await loop.close();
      await write().catch(() => {});
    },
  };
}
