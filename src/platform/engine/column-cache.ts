import { LRUCache } from 'lru-cache';
import { type Clock, SECOND_MS } from '../../kernel/time/clock.ts';
import type { Column, Engine } from './engine.ts';

const CACHED_MS = 30 * SECOND_MS;
const MAX_TABLES = 1000;

/** Caches the columns of tables for 30 seconds. */
export function createColumnCache({ query, clock }: Pick<Engine, 'query'> & { clock: Clock }) {
  const tables = new LRUCache<string, { at: number; columns: Promise<readonly Column[]> }>({ max: MAX_TABLES });

  async function readColumns(database: string, table: string): Promise<readonly Column[]> {
    const rows = await query({
      sql: 'SELECT name, type FROM system.columns WHERE database = {database:String} AND table = {table:String} ORDER BY position',
      parameters: { database, table },
    });
    return rows.map(([name, type]) => ({ name: String(name), type: String(type) }));
  }

  return {
    columns(database: string, table: string): Promise<readonly Column[]> {
      const id = JSON.stringify([database, table]);
      const cached = tables.get(id);
      if (cached && clock.monotonicMs() - cached.at < CACHED_MS) return cached.columns;
      const columns = readColumns(database, table);
      const entry = { at: clock.monotonicMs(), columns };
      tables.set(id, entry);
      // A failure is not cached.
      columns.catch(() => {
        if (tables.get(id) === entry) tables.delete(id);
      });
      return columns;
    },
  };
}
