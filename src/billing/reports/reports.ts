import { createExports } from './exports.ts';
import { createSummaries } from './summaries.ts';

export type Reports = ReturnType<typeof createReports>;

/** The bill as people read it: summed up, or as a file. */
export function createReports(options: Parameters<typeof createExports>[0]) {
  return { summaries: createSummaries(options), exports: createExports(options) };
}
