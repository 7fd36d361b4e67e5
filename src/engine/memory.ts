import { totalmem } from 'node:os';

const GIBIBYTE = 2 ** 30;
const MIN_BYTES = GIBIBYTE;
const MAX_BYTES = 8 * GIBIBYTE;

/** A quarter of what the machine or its container has, from 1 to 8 GiB. */
export function defaultMemoryBytes(): number {
  const limit = process.constrainedMemory();
  const available = limit && limit < totalmem() ? limit : totalmem();
  return Math.min(Math.max(Math.floor(available / 4), MIN_BYTES), MAX_BYTES);
}

/** What the process holds beside what it counts: code, threads, and what it takes before it notices. */
const UNCOUNTED_BYTES = 400 * 2 ** 20;

/** The engine overshoots its limits before it notices, and one query must leave something to the others. */
export function splitMemory(memoryBytes: number): { serverMemoryBytes: number; queryMemoryBytes: number } {
  const serverMemoryBytes = Math.floor(Math.min(memoryBytes * 0.6, memoryBytes - UNCOUNTED_BYTES));
  return { serverMemoryBytes, queryMemoryBytes: Math.floor(serverMemoryBytes * 0.6) };
}
