import type { TableKind } from '../../own-telemetry/rows.ts';
import { AttributeKeys, type DistinctLimit, type NewValue, type RemovedAttribute, Streams } from './distinct.ts';
import type { InvalidRecords } from './invalid-records.ts';
import { LIMITS, RejectedRecord, reject, SlowRules, TooManyParts } from './limits.ts';
import type { ProtoReader } from './proto-reader.ts';
import { type Budget, RowBuffer } from './row-buffer.ts';

/** Tables have a partition per day, and an insert may have at most 100 of them. Less, because the server's time zone decides. */
const DAYS_PER_INSERT = 90;
const NANOS_PER_DAY = 86_400e9;
/** Further reasons are counted together. */
const MAX_REASONS = 20;
export const OTHER_REASONS = 'of other reasons';
/** The records of further ones are counted together, without a name: the counts are copied between threads. */
const MAX_SERVICES = 1000;
/** Of a record in a sample. */
export const SAMPLE_BYTES = 300;

/** Of the rules of a request: the conditions of an organization must not delay the requests of others. */
const MAX_RULES_MS = 5000;

/** The name of the rule that drops the last row of a buffer, or undefined. */
export type FindDropRule = (out: RowBuffer) => string | undefined;

export interface BatchOptions {
  organizationId: string;
  /** Epoch nanoseconds. Records outside of this range are rejected. */
  oldest: number;
  newest: number;
  now: number;
  maxRowBytes: number;
  /** Without one, there may be any number. */
  keys?: DistinctLimit | undefined;
  /** Of metrics. */
  streams?: DistinctLimit | undefined;
  /** Undefined if there are no rules. */
  findDropRule?: FindDropRule | undefined;
  /** Of a request in JSON. */
  invalid?: InvalidRecords | undefined;
}

/** Rows for one insert. */
export interface Rows {
  table: TableKind;
  /** Rows of different blocks must not share an insert: together they would have too many partitions. */
  block: number;
  rows: number;
  bytes: Buffer;
}

interface Rejection {
  reason: string;
  records: number;
  /** As they were sent. */
  bytes: number;
  serviceName: string;
  /** The beginning of the first one. */
  sample: string;
}

interface Dropped {
  rule: string;
  serviceName: string;
  records: number;
  /** Of the rows. */
  bytes: number;
}

/** What becomes of a request. */
export interface Transcoded {
  rows: Rows[];
  accepted: number;
  /** Accepted records by service, and the bytes of their rows. */
  services: { name: string; records: number; bytes: number }[];
  rejected: number;
  rejections: Rejection[];
  /** Records that a rule dropped. */
  dropped: Dropped[];
  /** Attributes of accepted records that were left out because of the limit of keys. */
  removed: RemovedAttribute[];
  newKeys: NewValue[];
  newStreams: NewValue[];
  /** Rejected data points of streams beyond the limit. */
  refusedStreams: number;
}

/** What a record belongs to. */
interface Sent {
  serviceName: string;
  /** Why none of its records can be stored. */
  rejection: string | undefined;
}

/** Collects the rows and the rejected records of a request. */
export class Batch {
  readonly options: BatchOptions;
  private readonly budget: Budget;
  /** For parts that many rows share. */
  readonly scratch: RowBuffer;
  readonly keys: AttributeKeys;
  readonly streams: Streams;
  /** Of the data point that is being written. */
  stream: number | undefined;
  private readonly tables = new Map<string, { table: TableKind; block: number; out: RowBuffer }>();
  private readonly services = new Map<string, { name: string; records: number; bytes: number }>();
  private readonly rejections = new Map<string, Rejection>();
  private readonly dropped = new Map<string, Dropped>();
  private rulesMs = 0;
  private rejected = 0;
  private accepted = 0;
  private parts = 0;
  private lastTable: TableKind | undefined;
  private lastBlock = -1;
  private lastOut: RowBuffer | undefined;

  constructor(options: BatchOptions) {
    this.options = options;
    this.budget = { bytes: options.maxRowBytes };
    this.scratch = new RowBuffer(this.budget);
    this.keys = new AttributeKeys(options.keys);
    this.streams = new Streams(options.streams);
  }

  /** Counts resources, scopes, metrics and records before they are read. */
  addParts(count: number): void {
    this.parts += count;
    if (this.parts > LIMITS.parts) throw new TooManyParts();
  }

  /** The buffer for a row. Rejects the record if its time is outside of the range. */
  rowsAt(table: TableKind, nanos: number): RowBuffer {
    if (nanos < this.options.oldest) reject('its time is before the retention of this signal');
    if (nanos > this.options.newest) reject('its time is more than a day in the future');
    const block = Math.floor(nanos / NANOS_PER_DAY / DAYS_PER_INSERT);
    if (this.lastOut && block === this.lastBlock && table === this.lastTable) return this.lastOut;
    const key = `${table} ${block}`;
    const known = this.tables.get(key) ?? { table, block, out: new RowBuffer(this.budget) };
    this.tables.set(key, known);
    this.lastTable = table;
    this.lastBlock = block;
    this.lastOut = known.out;
    return known.out;
  }

  /** Writes the record from `start` to `end` with `write`, which returns the buffer of its row. A rejected record leaves no bytes. */
  record(
    { serviceName, rejection }: Sent,
    start: number,
    end: number,
    write: () => RowBuffer,
    describe: () => string,
  ): void {
    const invalid = this.options.invalid?.find(start);
    if (invalid) {
      this.reject(rejection ?? invalid.reason, serviceName, invalid.bytes, () => invalid.sample);
      return;
    }
    const bytes = end - start;
    try {
      if (rejection !== undefined) reject(rejection);
      if (bytes > LIMITS.recordBytes) reject(`it is larger than ${LIMITS.recordBytes / 1024} KiB`);
      const out = write();
      const rule = this.options.findDropRule && this.applyRules(out, this.options.findDropRule);
      if (rule !== undefined) {
        this.drop(rule, serviceName, out);
        return;
      }
      // After the rules: what they drop needs no stream.
      if (this.stream !== undefined) this.admitStream(this.stream);
      this.accept(serviceName, out.length - out.committed);
      this.keys.commit();
      this.streams.commit();
      out.rows++;
      out.committed = out.length;
    } catch (error) {
      if (!(error instanceof RejectedRecord)) throw error;
      if (this.lastOut) this.undo(this.lastOut);
      this.reject(error.message, serviceName, bytes, describe);
    }
  }

  private accept(serviceName: string, bytes: number): void {
    this.accepted++;
    const name = this.services.size < MAX_SERVICES || this.services.has(serviceName) ? serviceName : '';
    const service = this.services.get(name) ?? { name, records: 0, bytes: 0 };
    service.records++;
    service.bytes += bytes;
    this.services.set(name, service);
  }

  private admitStream(stream: number): void {
    if (this.streams.admits(stream)) return;
    reject(`the organization has ${this.streams.limit} metric streams on this day, which is its limit`);
  }

  private undo(out: RowBuffer): void {
    out.length = out.committed;
    this.keys.discard();
    this.streams.discard();
  }

  private applyRules(out: RowBuffer, find: FindDropRule): string | undefined {
    const startedAt = performance.now();
    const rule = find(out);
    this.rulesMs += performance.now() - startedAt;
    if (this.rulesMs > MAX_RULES_MS) throw new SlowRules();
    return rule;
  }

  private drop(rule: string, serviceName: string, out: RowBuffer): void {
    const name = this.dropped.size < MAX_SERVICES ? serviceName : '';
    const key = `${rule}\n${name}`;
    const known = this.dropped.get(key) ?? { rule, serviceName: name, records: 0, bytes: 0 };
    known.records++;
    known.bytes += out.length - out.committed;
    this.dropped.set(key, known);
    this.undo(out);
  }

  private reject(reason: string, serviceName: string, bytes: number, describe: () => string): void {
    this.rejected++;
    const key = `${reason}\n${serviceName}`;
    const isNamed = this.rejections.size < MAX_REASONS || this.rejections.has(key);
    const named = isNamed ? { reason, serviceName } : { reason: OTHER_REASONS, serviceName: '' };
    const known = this.rejections.get(isNamed ? key : OTHER_REASONS);
    if (known) {
      known.records++;
      known.bytes += bytes;
    } else {
      const sample = describe().slice(0, SAMPLE_BYTES);
      this.rejections.set(isNamed ? key : OTHER_REASONS, { ...named, records: 1, bytes, sample });
    }
  }

  finish(): Transcoded {
    const rows: Rows[] = [];
    for (const { table, block, out } of this.tables.values())
      if (out.rows > 0) rows.push({ table, block, rows: out.rows, bytes: out.bytes.subarray(0, out.length) });
    return {
      rows,
      accepted: this.accepted,
      services: [...this.services.values()],
      rejected: this.rejected,
      rejections: [...this.rejections.values()],
      dropped: [...this.dropped.values()],
      removed: this.keys.listRemoved(),
      newKeys: this.keys.added,
      newStreams: this.streams.added,
      refusedStreams: this.streams.refused,
    };
  }
}

/** Names a record in a sample. */
export const quote = (reader: ProtoReader, start: number, end: number): string =>
  JSON.stringify(reader.text(start, Math.min(end, start + SAMPLE_BYTES)));
