import { describe, expect, it } from 'vitest';
import { useEngine } from '../../../../test/support/engine.ts';
import { type Chunk, type EngineTable, formatCondition, planChunks } from './table-chunks.ts';

const table: EngineTable = {
  name: 'usage_events',
  columns: ['OrganizationId', 'EntityType', 'EntityId', 'Meter', 'Time', 'Source', 'Id', 'Quantity'],
  timeColumn: 'Time',
  plainColumns: ['OrganizationId', 'Time', 'Id'],
};

describe('the chunks of a table', () => {
  const engine = useEngine();

  const readFields = async (sql: string, parameters: Record<string, unknown>): Promise<string[][]> =>
    (await engine.query({ sql, parameters })).map((row) => row.map(String));

  const readIds = (chunk: Chunk): Promise<string[]> => {
    const { where, parameters } = formatCondition(table, chunk);
    return readFields(`SELECT Id FROM pilothouse.usage_events ${where}`, parameters).then((rows) => rows.flat());
  };

  it('contain every row once and few rows each, for rows of one millisecond, minute, hour, day or organization', async () => {
    const row = (organization: string, time: string, id: string) => ({
      OrganizationId: organization,
      EntityType: 'service',
      EntityId: 'e',
      Meter: 'compute',
      Time: time,
      Source: 's',
      Id: id,
      Quantity: '1',
    });
    const pad = (number: number) => String(number).padStart(2, '0');
    const times = {
      days: (n: number) => `2026-${pad(1 + (n % 12))}-${pad(1 + (n % 28))}T00:00:00Z`,
      hours: (n: number) => `2026-03-01T${pad(n % 24)}:00:00Z`,
      minutes: (n: number) => `2026-03-01T23:${pad(n % 60)}:59.999Z`,
      seconds: (n: number) => `2026-03-01T05:07:${pad(n % 60)}Z`,
      one: () => '2026-12-31T23:59:59.999Z',
    };
    const rows = Object.entries(times).flatMap(([name, time]) =>
      Array.from({ length: 200 }, (_, index) => row(name, time(index), `${name} ${index}`)),
    );
    const small = Array.from({ length: 50 }, (_, index) =>
      row(`small ${index}`, '2026-05-05T05:05:05Z', `small ${index}`),
    );
    await engine.insert('usage_events', [...rows, ...small, row('unwanted', '2026-05-05T05:05:05Z', 'unwanted')]);

    const ids: string[] = [];
    const sizes: number[] = [];
    for await (const chunk of planChunks(table, 20, readFields, (id) => id !== 'unwanted')) {
      const found = await readIds(chunk);
      ids.push(...found);
      sizes.push(found.length);
    }
    expect(ids.sort()).toEqual([...rows, ...small].map(({ Id }) => Id).sort());
    // A hash divides rows unevenly.
    expect(Math.max(...sizes)).toBeLessThan(60);
    expect(sizes.length).toBeGreaterThan(50);

    const all: Chunk[] = [];
    for await (const chunk of planChunks(table, 1_000_000, readFields, () => true)) all.push(chunk);
    expect(all).toHaveLength(1);
  });

  it('name at most 1,000 organizations: a parameter of ClickHouse has a maximum size', async () => {
    const ids = Array.from({ length: 2500 }, (_, index) => String(index).padStart(36, '0'));
    const lengths: number[] = [];
    const rows = async () => ids.map((id) => [id, '1']);
    for await (const { organizations = [] } of planChunks(table, 1e6, rows, () => true))
      lengths.push(organizations.length);
    expect(lengths).toEqual([1000, 1000, 500]);
  });
});
