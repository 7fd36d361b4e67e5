import type { Clock } from '../../kernel/time/clock.ts';
import type { Engine } from '../../platform/engine/engine.ts';
import type { Source } from '../sources/source.ts';
import { createSharedQueries } from './shared-queries.ts';
import { createSourceResolver } from './source-resolver.ts';

const MEBIBYTE = 2 ** 20;

/** Limits of one statement. */
export const STATEMENT_LIMITS = {
  maxSeconds: 30,
  maxResultRows: 200_000,
  maxResultBytes: 4 * MEBIBYTE,
  maxMemoryBytes: 400_000_000,
};

interface Options {
  engine: Engine;
  clock: Clock;
  findSource(organizationId: string, id: string): Promise<Source | undefined>;
  openTables: readonly string[];
}

export type TelemetryQueries = ReturnType<typeof createTelemetryQueries>;

/** The one way from a source of an organization to the rows of its table. */
export function createTelemetryQueries({ engine, clock, findSource, openTables }: Options) {
  const { resolveSource, resolveTables } = createSourceResolver({ engine, findSource, openTables });
  return {
    resolveSource,
    resolveTables,
    ...createSharedQueries({ engine, clock, limits: STATEMENT_LIMITS }),
  };
}
