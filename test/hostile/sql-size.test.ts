import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { newUuid } from '../../src/kernel/ids.ts';
import { isLongRun } from '../support/long-run.ts';
import { useServices } from '../support/running-service.ts';
import { useServer } from '../support/server.ts';
import { useStatements } from '../support/statements.ts';
import { until } from '../support/until.ts';

// Reads gigabytes from the process of a service.
vi.setConfig({ testTimeout: 900_000 });

const MIB = 2 ** 20;
/** A long run reads as much as a person could download. */
const BYTES = (isLongRun ? 10_240 : 512) * MIB;
const MAX_GROWTH_BYTES = 200 * MIB;

describe('a large result by role', () => {
  const server = useServer('libsql', { args: ['--endpoint-ports', '0'], inProcess: false });
  const services = useServices(server);
  const sql = useStatements(server);
  const readMemory = (member: 'VmHWM' | 'VmRSS'): number =>
    1024 *
    Number(new RegExp(`^${member}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]);
  const isRunning = async (query: (text: string) => Promise<{ text: string }>, queryId: string) =>
    (await query(`SELECT count() FROM system.processes WHERE query_id = '${queryId}'`)).text === '1';

  it('is not collected in memory, and ends with its connection', async () => {
    const { id, query } = await services.create();
    await sql.run(id, 'SELECT 1');
    const before = readMemory('VmRSS');
    const queryId = newUuid();
    const response = await sql.post(id, { sql: 'SELECT number, number FROM system.numbers', format: 'tsv', queryId });
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    let bytes = 0;
    while (bytes < BYTES) bytes += (await reader?.read())?.value?.length ?? 0;
    expect(readMemory('VmHWM') - before).toBeLessThan(MAX_GROWTH_BYTES);
    expect(await isRunning(query, queryId)).toBe(true);
    await reader?.cancel();
    await until(
      () => isRunning(query, queryId),
      (isStillRunning) => !isStillRunning,
      'the statement goes on without its client',
    );
  });
});
