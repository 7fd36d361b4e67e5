/** A hash of source and id, see `hashEventId`: 16 characters, each one byte. */
export type IdHash = string;

export type IdFilter = ReturnType<typeof createIdFilter>;

interface Layer {
  bits: Uint32Array;
  /** The number of blocks, a power of two, minus one. */
  mask: number;
  /** The number of ids it is sized for. */
  capacity: number;
  free: number;
}

/** Small filters use more bits: the memory is negligible and fewer false positives save lookups. */
const bitsPerId = (bits: number): number => (bits <= 2 ** 28 ? 32 : 16);
const SMALLEST_BITS = 2 ** 23;
const LARGEST_BITS = 2 ** 31;
/** The size of a cache line: all bits of an id are in one block. */
const BLOCK_BITS = 512;
const BLOCK_WORDS = BLOCK_BITS / 32;

/**
 * A Bloom filter that grows in layers, each twice as large as the one before. About one id in 100,000 is a false
 * positive, one in 1,000 above 16 million ids. An id takes 32 to 64 bits, 16 to 32 bits above 16 million ids.
 */
export function createIdFilter(expected: number) {
  const layers: Layer[] = [createLayer(expected)];
  let newest = layers[0] as Layer;

  return {
    /** False only for ids that were never added. */
    mayContain: (id: IdHash): boolean => layers.some((layer) => mayContain(layer, id)),

    add(id: IdHash): void {
      if (newest.free === 0) {
        newest = createLayer(2 * newest.capacity);
        layers.push(newest);
      }
      newest.free--;
      const { bits, mask } = newest;
      const block = (readWord(id, 0) & mask) * BLOCK_WORDS;
      for (let at = 4; at < 16; at += 4) {
        const word = readWord(id, at);
        set(bits, block, word);
        set(bits, block, word >>> 9);
        set(bits, block, word >>> 18);
      }
    },

    bytes: (): number => layers.reduce((sum, { bits }) => sum + bits.byteLength, 0),
  };
}

/** The first word selects the block, each of the others three bits in it. */
function mayContain({ bits, mask }: Layer, id: IdHash): boolean {
  const block = (readWord(id, 0) & mask) * BLOCK_WORDS;
  for (let at = 4; at < 16; at += 4) {
    const word = readWord(id, at);
    if (!isSet(bits, block, word) || !isSet(bits, block, word >>> 9) || !isSet(bits, block, word >>> 18)) return false;
  }
  return true;
}

function createLayer(ids: number): Layer {
  let bits = SMALLEST_BITS;
  while (bits < ids * bitsPerId(bits) && bits < LARGEST_BITS) bits *= 2;
  const capacity = bits / bitsPerId(bits);
  return { bits: new Uint32Array(bits / 32), mask: bits / BLOCK_BITS - 1, capacity, free: capacity };
}

const wordIndex = (block: number, bit: number): number => block + ((bit >>> 5) & (BLOCK_WORDS - 1));

const isSet = (bits: Uint32Array, block: number, bit: number): boolean =>
  ((bits[wordIndex(block, bit)] ?? 0) & (1 << (bit & 31))) !== 0;

function set(bits: Uint32Array, block: number, bit: number): void {
  const at = wordIndex(block, bit);
  bits[at] = (bits[at] ?? 0) | (1 << (bit & 31));
}

const readWord = (id: IdHash, at: number): number =>
  id.charCodeAt(at) | (id.charCodeAt(at + 1) << 8) | (id.charCodeAt(at + 2) << 16) | (id.charCodeAt(at + 3) << 24);
