import { createExports } from './exports.ts';
import { createSummaries } from './summaries.ts';

export type Reports = ReturnType<typeof createReports>;

/** Summaries and file exports of cost records. */
export function createReports(options: Parameters<typeof createExports>[0]) {
  return { summaries: createSummaries(options), exports: createExports(options) };
}
