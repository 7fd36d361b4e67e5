/** An id as `hashOf` makes it: 16 characters, each a byte. */
export type IdHash = string;

export type IdFilter = ReturnType<typeof createIdFilter>;

interface Layer {
  bits: Uint32Array;
  /** Blocks less one, a power of two less one. */
  mask: number;
  /** How many ids it is made for. */
  size: number;
  room: number;
}

/** Where memory is no matter, a filter that is hardly ever wrong saves looking ids up. */
const bitsPerId = (bits: number): number => (bits <= 2 ** 28 ? 32 : 16);
const SMALLEST_BITS = 2 ** 23;
const LARGEST_BITS = 2 ** 31;
/** What a processor fetches at once: all bits of an id are in one block. */
const BLOCK_BITS = 512;
const BLOCK_WORDS = BLOCK_BITS / 32;

/**
 * Says of an id «never seen» or «perhaps» (a Bloom filter): of the ids it has not seen about one in a hundred thousand
 * counts as perhaps, and one in a thousand once it holds more than 16 million. It grows by layers, each twice as large as
 * the one before, at 32 to 64 bits an id and then at 16 to 32.
 */
export function createIdFilter(expected: number) {
  const layers: Layer[] = [createLayer(expected)];
  let newest = layers[0] as Layer;

  return {
    mayHave: (id: IdHash): boolean => layers.some((layer) => mayHave(layer, id)),

    add(id: IdHash): void {
      if (newest.room === 0) {
        newest = createLayer(2 * newest.size);
        layers.push(newest);
      }
      newest.room--;
      const { bits, mask } = newest;
      const block = (wordAt(id, 0) & mask) * BLOCK_WORDS;
      for (let at = 4; at < 16; at += 4) {
        const word = wordAt(id, at);
        set(bits, block, word);
        set(bits, block, word >>> 9);
        set(bits, block, word >>> 18);
      }
    },

    bytes: (): number => layers.reduce((sum, { bits }) => sum + bits.byteLength, 0),
  };
}

/** The first word chooses the block, each of the others three bits of it. */
function mayHave({ bits, mask }: Layer, id: IdHash): boolean {
  const block = (wordAt(id, 0) & mask) * BLOCK_WORDS;
  for (let at = 4; at < 16; at += 4) {
    const word = wordAt(id, at);
    if (!isSet(bits, block, word) || !isSet(bits, block, word >>> 9) || !isSet(bits, block, word >>> 18)) return false;
  }
  return true;
}

function createLayer(ids: number): Layer {
  let bits = SMALLEST_BITS;
  while (bits < ids * bitsPerId(bits) && bits < LARGEST_BITS) bits *= 2;
  const size = bits / bitsPerId(bits);
  return { bits: new Uint32Array(bits / 32), mask: bits / BLOCK_BITS - 1, size, room: size };
}

const wordOf = (block: number, bit: number): number => block + ((bit >>> 5) & (BLOCK_WORDS - 1));

const isSet = (bits: Uint32Array, block: number, bit: number): boolean =>
  ((bits[wordOf(block, bit)] ?? 0) & (1 << (bit & 31))) !== 0;

function set(bits: Uint32Array, block: number, bit: number): void {
  const at = wordOf(block, bit);
  bits[at] = (bits[at] ?? 0) | (1 << (bit & 31));
}

const wordAt = (id: IdHash, at: number): number =>
  id.charCodeAt(at) | (id.charCodeAt(at + 1) << 8) | (id.charCodeAt(at + 2) << 16) | (id.charCodeAt(at + 3) << 24);
