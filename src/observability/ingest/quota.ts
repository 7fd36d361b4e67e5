import { AppError } from '../../kernel/errors.ts';
import type { RateCounter } from '../../kernel/rate-counter.ts';

export interface QuotaOptions {
  /** Per token and minute; undefined for no limit. */
  maxBytesPerMinute?: number | undefined;
  maxRowsPerMinute?: number | undefined;
  counter: RateCounter;
}

const WINDOW_SECONDS = 60;

/** The bytes and rows that a token may send per minute. The number of rows is known later, so one request may exceed it. */
export function createIngestQuota({ maxBytesPerMinute, maxRowsPerMinute, counter }: QuotaOptions) {
  async function check(id: string, count: number, limit: number | undefined, unit: string): Promise<void> {
    if (limit === undefined) return;
    const { taken, restMs } = await counter.add(`ingest ${unit} ${id}`, count, WINDOW_SECONDS);
    if (taken - count < limit) return;
    throw new AppError('too_many_requests', `This token may send ${limit} ${unit} per minute`, {
      retryAfterSeconds: restMs / 1000,
    });
  }

  return {
    /** Throws `too_many_requests` if the limits of this minute are reached. */
    async take(tokenId: string, bytes: number): Promise<void> {
      await check(tokenId, bytes, maxBytesPerMinute, 'bytes');
      await check(tokenId, 0, maxRowsPerMinute, 'rows');
    },

    addRows(tokenId: string, rows: number): void {
      if (maxRowsPerMinute !== undefined) counter.add(`ingest rows ${tokenId}`, rows, WINDOW_SECONDS).catch(() => {});
    },
  };
}
