import { expect, it, vi } from 'vitest';
import type { Json } from '../support/client.ts';
import { useServices } from '../support/running-service.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';
import { useStatements } from '../support/statements.ts';
import { runSql } from '../support/store-sql.ts';
import { until } from '../support/until.ts';

// Starts the process of a service several times.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 180_000 });

const ROUNDS = 4;

onEachStoreInLongRuns('a server that is killed', (store) => {
  const server = useServer(store, { args: ['--endpoint-ports', '0'], inProcess: false });
  const services = useServices(server);
  const sql = useStatements(server);
  const listStatements = async (id: string): Promise<Json[]> =>
    (await services.listActivities(id)).map(({ after }: Json) => after).filter((after) => after?.statement);

  it('loses no activity of a statement that may write, whenever it is killed', async () => {
    const service = await services.create();
    const create = (round: number) => `CREATE TABLE t${round} (a UInt8) ENGINE = MergeTree ORDER BY a`;
    for (let round = 0; round < ROUNDS; round++) {
      expect((await sql.run(service.id, create(round), { access: 'write' })).end).toBeDefined();
      await server.stop('SIGKILL');
      await server.restart();
      await services.untilState(service.id, 'running');
    }
    const { rows } = await sql.run(
      service.id,
      "SELECT name FROM system.tables WHERE database = 'default' ORDER BY name",
    );
    expect(rows).toEqual(Array.from({ length: ROUNDS }, (_, round) => [`t${round}`]));
    const statements = (await listStatements(service.id)).filter(({ access }) => access === 'write');
    expect(statements.map(({ statement }) => statement).sort()).toEqual(
      Array.from({ length: ROUNDS }, (_, round) => create(round)),
    );

    // Without an end: whether it was run is unknown, and the activity says so, without the literals.
    const running = sql
      .post(
        service.id,
        { sql: "INSERT INTO t0 SELECT length('secret') FROM numbers(1000000000000) WHERE sipHash64(number) = 7" },
        { access: 'write' },
      )
      .then((response) => response.text())
      .catch(() => {});
    await until(
      () => runSql(server, 'SELECT id FROM sql_intents'),
      (found) => found.length === 1,
      'the statement does not run',
    );
    await server.stop('SIGKILL');
    await running;
    await server.restart();
    const [last] = (await listStatements(service.id)).filter(({ access }) => access === 'write');
    expect(last).toMatchObject({
      statement: 'INSERT INTO t0 SELECT length(?) FROM numbers(?) WHERE sipHash64(number) = ?',
      error: 'The server stopped before the end of the statement; it may have been run',
    });
    await server.stop();
    await server.restart();
    expect((await listStatements(service.id)).filter(({ access }) => access === 'write')).toHaveLength(ROUNDS + 1);
  });
});
