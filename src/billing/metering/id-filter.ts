/** An id as `hashOf` makes it: 16 characters, each a byte. */
export type IdHash = string;

export type IdFilter = ReturnType<typeof createIdFilter>;

interface Layer {
  bits: Uint32Array;
  /** Bits less one, a power of two less one. */
  mask: number;
  room: number;
}

const BITS_PER_ID = 12;
const SMALLEST_BITS = 2 ** 20;
const LARGEST_BITS = 2 ** 31;

/**
 * Says of an id «never seen» or «perhaps» (a Bloom filter): of the ids it has not seen about one in a hundred counts as
 * perhaps. It grows by layers, each twice as large as the one before, at 12 to 24 bits an id.
 */
export function createIdFilter(expected: number) {
  const layers: Layer[] = [createLayer(expected)];
  let newest = layers[0] as Layer;

  return {
    mayHave(id: IdHash): boolean {
      const [a, b, c, d] = wordsOf(id);
      return layers.some(
        ({ bits, mask }) =>
          isSet(bits, a & mask) && isSet(bits, b & mask) && isSet(bits, c & mask) && isSet(bits, d & mask),
      );
    },

    add(id: IdHash): void {
      if (newest.room === 0) {
        newest = createLayer(((newest.mask + 1) * 2) / BITS_PER_ID);
        layers.push(newest);
      }
      newest.room--;
      const { bits, mask } = newest;
      for (const word of wordsOf(id)) set(bits, word & mask);
    },

    bytes: (): number => layers.reduce((sum, { bits }) => sum + bits.byteLength, 0),
  };
}

function createLayer(ids: number): Layer {
  let size = SMALLEST_BITS;
  while (size < ids * BITS_PER_ID && size < LARGEST_BITS) size *= 2;
  return { bits: new Uint32Array(size / 32), mask: size - 1, room: Math.ceil(size / BITS_PER_ID) };
}

const isSet = (bits: Uint32Array, bit: number): boolean => ((bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0;

function set(bits: Uint32Array, bit: number): void {
  const at = bit >>> 5;
  bits[at] = (bits[at] ?? 0) | (1 << (bit & 31));
}

/** Four numbers that have nothing to do with each other. */
function wordsOf(id: IdHash): [number, number, number, number] {
  return [wordAt(id, 0), wordAt(id, 4), wordAt(id, 8), wordAt(id, 12)];
}

const wordAt = (id: IdHash, at: number): number =>
  id.charCodeAt(at) | (id.charCodeAt(at + 1) << 8) | (id.charCodeAt(at + 2) << 16) | (id.charCodeAt(at + 3) << 24);
