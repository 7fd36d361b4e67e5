import { createHash, randomBytes, randomUUID } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

export const newUuid = (): string => randomUUID();

/** 24 hexadecimal digits: the id format of dashboards, tiles and sources. */
export const newHexId = (): string => randomBytes(12).toString('hex');

export const isHexId = (text: string): boolean => /^[0-9a-f]{24}$/.test(text);

/** As `newHexId`, but the same parts always give the same id. */
export const deriveHexId = (...parts: string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24);

/** The same parts always give the same id (a version 5 UUID), so ids that a file omits are stable. */
export function deriveUuid(...parts: string[]): string {
  const bytes = createHash('sha1').update('pilothouse').update(JSON.stringify(parts)).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return formatUuid(bytes.toString('hex'));
}

/** Creates version 7 UUIDs, which sort by creation time; in one process, also within a millisecond. */
export function createTimeOrderedIds(): (nowMs: number) => string {
  let lastMs = 0;
  let counter = 0;
  let head = '';
  const advanceTo = (ms: number) => {
    lastMs = ms;
    counter = 0;
    const digits = ms.toString(16).padStart(12, '0');
    head = `${digits.slice(0, 8)}-${digits.slice(8)}-7`;
  };
  return (nowMs) => {
    if (nowMs > lastMs) advanceTo(nowMs);
    else if (++counter > 0xfff) advanceTo(lastMs + 1);
    // The last part of a random UUID: the variant and 62 random bits, from Node's pool.
    return `${head}${counter.toString(16).padStart(3, '0')}-${randomUUID().slice(19)}`;
  };
}

/** The smallest id that `createTimeOrderedIds` can return for a time: the bound of a range of ids. */
export function firstIdAt(ms: number): string {
  const digits = Math.max(0, Math.min(ms, MAX_ID_MS)).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-000000000000`;
}

/** A version 7 UUID stores the time in 48 bits. */
const MAX_ID_MS = 2 ** 48 - 1;

function formatUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
