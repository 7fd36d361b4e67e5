import { totalmem } from 'node:os';

const GIBIBYTE = 2 ** 30;
const MIN_BYTES = GIBIBYTE;
const MAX_BYTES = 8 * GIBIBYTE;

/** A quarter of the memory of the machine or container, from 1 to 8 GiB. */
export function defaultMemoryBytes(): number {
  const limit = process.constrainedMemory();
  const available = limit && limit < totalmem() ? limit : totalmem();
  return Math.min(Math.max(Math.floor(available / 4), MIN_BYTES), MAX_BYTES);
}

/** Memory of the process that the engine does not count: code, threads, allocations between two checks. */
const UNCOUNTED_BYTES = 400 * 2 ** 20;

/** The engine may exceed its limits briefly, and one query must leave memory for the others. */
export function splitMemory(memoryBytes: number): { serverMemoryBytes: number; queryMemoryBytes: number } {
  const serverMemoryBytes = Math.floor(Math.min(memoryBytes * 0.6, memoryBytes - UNCOUNTED_BYTES));
  return { serverMemoryBytes, queryMemoryBytes: Math.floor(serverMemoryBytes * 0.6) };
}
