/** Slots per hash of the capacity, so that a hash is found in few steps. */
const SLOTS_PER_HASH = 2;
const MIN_SLOTS = 64;

/**
 * A set of 32-bit hashes in memory that threads share. Two values of the same hash count as one: of 100,000 values, about one is not counted.
 */
export class SharedHashes {
  /** The number of hashes, then the slots. 0 is an empty slot. */
  private readonly cells: Int32Array;
  private readonly mask: number;

  constructor(memory: SharedArrayBuffer) {
    this.cells = new Int32Array(memory);
    this.mask = this.cells.length - 2;
  }

  static allocate(capacity: number): SharedArrayBuffer {
    let slots = MIN_SLOTS;
    while (slots < capacity * SLOTS_PER_HASH) slots *= 2;
    return new SharedArrayBuffer((slots + 1) * Int32Array.BYTES_PER_ELEMENT);
  }

  get count(): number {
    return Atomics.load(this.cells, 0);
  }

  has(hash: number): boolean {
    const value = hash | 0 || 1;
    for (let at = value & this.mask; ; at = (at + 1) & this.mask) {
      const found = this.cells[at + 1];
      if (found === value) return true;
      if (found === 0) return false;
    }
  }

  /** False if it has the hash already, or no space for it. */
  add(hash: number): boolean {
    const value = hash | 0 || 1;
    // One slot stays empty, where a search ends.
    if (this.count >= this.mask) return false;
    for (let at = value & this.mask; ; at = (at + 1) & this.mask) {
      const found = Atomics.compareExchange(this.cells, at + 1, 0, value);
      if (found === value) return false;
      if (found !== 0) continue;
      Atomics.add(this.cells, 0, 1);
      return true;
    }
  }
}

const FNV_PRIME = 0x01000193;
const FNV_OFFSET = 0x811c9dc5;

/** FNV-1a, and a last step that spreads it over all bits. The same on every node. */
export function hashBytes(bytes: Uint8Array, start: number, end: number, seed: number = FNV_OFFSET): number {
  let hash = seed;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), FNV_PRIME);
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
