import { hashBytes, SharedHashes } from './shared-hashes.ts';

/** The values of a day that are known, and how many there may be. */
export interface DistinctLimit {
  hashes: SharedArrayBuffer;
  limit: number;
}

/** A value that was seen for the first time on this day. */
export interface NewValue {
  hash: number;
  /** Of an attribute key; empty for a metric stream. */
  name: string;
}

/** Attributes that were left out, by key. */
export interface RemovedAttribute {
  key: string;
  records: number;
  bytes: number;
}

/** Further keys are counted together, without a name. */
const MAX_REMOVED_KEYS = 20;

/** Different values up to a limit. Those of a record count when it is accepted. Without a limit, everything is admitted and nothing counted. */
class Distinct {
  readonly added: NewValue[] = [];
  private readonly known: SharedHashes | undefined;
  private readonly pending = new Map<number, string>();
  readonly limit: number;

  constructor(limit: DistinctLimit | undefined) {
    this.known = limit && new SharedHashes(limit.hashes);
    this.limit = limit?.limit ?? Number.POSITIVE_INFINITY;
  }

  get isLimited(): boolean {
    return this.known !== undefined;
  }

  protected admit(hash: number, readName: () => string): boolean {
    const { known, pending } = this;
    if (!known || known.has(hash) || pending.has(hash)) return true;
    if (known.count + pending.size >= this.limit) return false;
    pending.set(hash, readName());
    return true;
  }

  commit(): void {
    if (this.pending.size === 0) return;
    for (const [hash, name] of this.pending) if (this.known?.add(hash)) this.added.push({ hash, name });
    this.pending.clear();
  }

  discard(): void {
    if (this.pending.size > 0) this.pending.clear();
  }
}

const NO_NAME = () => '';

/** Streams of metrics: a metric of one resource with one set of attributes. */
export class Streams extends Distinct {
  /** Data points of streams beyond the limit. */
  refused = 0;

  admits(hash: number): boolean {
    const isAdmitted = this.admit(hash, NO_NAME);
    if (!isAdmitted) this.refused++;
    return isAdmitted;
  }
}

/** The keys of attributes. Those beyond the limit are left out of their records. */
export class AttributeKeys extends Distinct {
  private readonly removed = new Map<string, RemovedAttribute>();
  private pendingRemoved: { key: string; bytes: number }[] = [];

  admits(source: Buffer, start: number, end: number): boolean {
    if (!this.isLimited) return true;
    return this.admit(hashBytes(source, start, end), () => source.toString('utf8', start, end));
  }

  /** Counts an attribute that was left out, when its record is accepted. */
  remove(key: string, bytes: number): void {
    this.pendingRemoved.push({ key, bytes });
  }

  override commit(): void {
    super.commit();
    if (this.pendingRemoved.length === 0) return;
    for (const { key, bytes } of this.pendingRemoved) {
      const named = this.removed.size < MAX_REMOVED_KEYS || this.removed.has(key) ? key : '';
      const known = this.removed.get(named) ?? { key: named, records: 0, bytes: 0 };
      known.records++;
      known.bytes += bytes;
      this.removed.set(named, known);
    }
    this.pendingRemoved = [];
  }

  override discard(): void {
    super.discard();
    if (this.pendingRemoved.length > 0) this.pendingRemoved = [];
  }

  listRemoved(): RemovedAttribute[] {
    return [...this.removed.values()];
  }
}
