import { type Engine, OWN_DATABASE } from '../../src/platform/engine/engine.ts';
import type { Json } from './client.ts';

/** The rows of an organization, with times in nanoseconds and integers of 64 bits as strings where they are large. */
export async function readRows(
  engine: Engine,
  table: string,
  organizationId: string,
  { where = '1', order = '1' }: { where?: string; order?: string } = {},
): Promise<Json[]> {
  const columns = await engine.columns(OWN_DATABASE, table);
  const expressions = columns.map(({ name, type }) => {
    if (type.startsWith('DateTime64')) return `toString(toUnixTimestamp64Nano(\`${name}\`))`;
    if (type.startsWith('Array(DateTime64')) return `arrayMap(t -> toString(toUnixTimestamp64Nano(t)), \`${name}\`)`;
    return `\`${name}\``;
  });
  const rows = await engine.query({
    sql: `SELECT ${expressions.join(', ')} FROM ${OWN_DATABASE}.${table} WHERE OrganizationId = {id:String} AND (${where}) ORDER BY ${order}`,
    parameters: { id: organizationId },
  });
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, index) => [name, row[index]])));
}

export async function countRows(engine: Engine, table: string, organizationId: string, where = '1'): Promise<number> {
  const [[count] = []] = await engine.query({
    sql: `SELECT count() FROM ${OWN_DATABASE}.${table} WHERE OrganizationId = {id:String} AND (${where})`,
    parameters: { id: organizationId },
  });
  return Number(count);
}
