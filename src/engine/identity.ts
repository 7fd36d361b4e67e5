import { type Engine, OWN_DATABASE } from './engine.ts';

/**
 * The random identity of the engine's data, created with its tables. More than one if several nodes created it at the
 * same time; the first is the one to remember, and any of them identifies the engine.
 */
export async function readEngineIdentities(engine: Engine): Promise<string[]> {
  const rows = await engine.query({
    sql: `SELECT Identity FROM ${OWN_DATABASE}.engine_identity ORDER BY CreatedAt, Identity LIMIT 100`,
    parameters: {},
  });
  return rows.map(([identity]) => String(identity));
}
