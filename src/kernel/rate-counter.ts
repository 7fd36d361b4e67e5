/** Counts for several processes, so that together they keep one limit. */
export interface RateCounter {
  /**
   * Adds to the count of the id's window. A window starts with the first addition and lasts `windowSeconds`. Returns the
   * count with this addition, and the milliseconds until the window ends, by the clock of the counter.
   */
  add(id: string, count: number, windowSeconds: number): Promise<{ taken: number; restMs: number }>;
}
