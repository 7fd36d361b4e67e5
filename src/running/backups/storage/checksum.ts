import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Of a file of a backup, in hexadecimal. S3 checks SHA-256 itself; CRC-32 takes an eighth of its processor time. */
export interface Checksums {
  crc32?: string | undefined;
  sha256?: string | undefined;
}

export type ChecksumKind = keyof Checksums;

interface Checksum {
  update(chunk: Uint8Array): void;
  /** To be called once. */
  digest(): string;
}

const KINDS: Record<ChecksumKind, { pattern: RegExp; create(): Checksum }> = {
  crc32: {
    pattern: /^[0-9a-f]{8}$/,
    create() {
      let value = 0;
      return {
        update(chunk) {
          value = crc32(chunk, value);
        },
        digest: () => value.toString(16).padStart(8, '0'),
      };
    },
  },
  sha256: {
    pattern: /^[0-9a-f]{64}$/,
    create() {
      const hash = createHash('sha256');
      return { update: (chunk) => void hash.update(chunk), digest: () => hash.digest('hex') };
    },
  },
};

export const createChecksum = (kind: ChecksumKind): Checksum => KINDS[kind].create();

/** The kind of checksum that a file has; undefined for a file that ClickHouse itself has written to the storage. */
export const findChecksum = (file: Checksums): ChecksumKind | undefined =>
  (['crc32', 'sha256'] as const).find((kind) => file[kind] !== undefined);

export const areValidChecksums = (file: Checksums): boolean =>
  (['crc32', 'sha256'] as const).every((kind) => file[kind] === undefined || KINDS[kind].pattern.test(file[kind]));
