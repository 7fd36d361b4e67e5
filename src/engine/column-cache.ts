import { type Clock, SECOND_MS } from '../kernel/clock.ts';
import type { Column, Engine } from './engine.ts';

const REMEMBERED_MS = 30 * SECOND_MS;
const MAX_REMEMBERED = 1000;

/** The columns of tables, asked for once and remembered for a while. */
export function createColumnCache({ query, clock }: Pick<Engine, 'query'> & { clock: Clock }) {
  const known = new Map<string, { at: number; columns: Promise<readonly Column[]> }>();

  async function ask(database: string, table: string): Promise<readonly Column[]> {
    const rows = await query({
      sql: 'SELECT name, type FROM system.columns WHERE database = {database:String} AND table = {table:String} ORDER BY position',
      parameters: { database, table },
    });
    return rows.map(([name, type]) => ({ name: String(name), type: String(type) }));
  }

  return {
    columns(database: string, table: string): Promise<readonly Column[]> {
      const id = JSON.stringify([database, table]);
      const found = known.get(id);
      if (found && clock.now() - found.at < REMEMBERED_MS) return found.columns;
      if (known.size >= MAX_REMEMBERED) known.clear();
      const columns = ask(database, table);
      const entry = { at: clock.now(), columns };
      known.set(id, entry);
      columns.catch(() => {
        if (known.get(id) === entry) known.delete(id);
      });
      return columns;
    },
  };
}
