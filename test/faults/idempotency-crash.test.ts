import { expect, it } from 'vitest';
import { getServerStore } from '../support/cli.ts';
import type { ApiResponse, Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { keysPath } from '../support/keys.ts';
import { isLongRun } from '../support/long-run.ts';
import { onEachStoreInLongRuns, startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const ROUNDS = isLongRun ? 10 : 1;
const WRITERS = 4;

/** The name of the key that it creates is also the Idempotency-Key. */
const create = (server: TestServer, name: string): Promise<ApiResponse> =>
  server.call({
    method: 'POST',
    path: keysPath(),
    key: acme.admin,
    body: { name },
    headers: { 'idempotency-key': name },
  });

onEachStoreInLongRuns('kill -9 under requests with an Idempotency-Key', (store) => {
  it('every request is executed once if the client repeats it, and the audit log is intact', {
    timeout: 600_000,
  }, async () => {
    const server = await startServer(store, { args: ['--max-keys', '1000000'] });
    const names: string[] = [];
    /** Sent, and not acknowledged when the server was killed. */
    let open: string[] = [];
    let acknowledged = 0;
    const writeUntilKilled = async (writer: string): Promise<void> => {
      for (let count = 0; ; count++) {
        const name = `${writer}.${count}`;
        names.push(name);
        try {
          expect((await create(server, name)).status).toBe(200);
          acknowledged++;
        } catch (error) {
          // fetch throws a TypeError if the connection is gone. Other errors fail the test.
          if (!(error instanceof TypeError)) throw error;
          open.push(name);
          return;
        }
      }
    };
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const target = acknowledged + 1 + Math.floor(Math.random() * 40);
        const writers = Array.from({ length: WRITERS }, (_, index) => writeUntilKilled(`${round}.${index}`));
        await until(
          async () => acknowledged,
          (count) => count >= target,
          'no keys are created',
        );
        await server.stop('SIGKILL');
        await Promise.all(writers);
        await server.restart();
        expect(open).toHaveLength(WRITERS);
        // No key stays reserved by the process that was killed.
        for (const name of open) expect((await create(server, name)).status).toBe(200);
        open = [];
      }
      const { json } = await server.call({ path: keysPath(), key: acme.admin });
      const stored = json.result.map(({ name }: Json) => name).filter((name: string) => /^\d+\.\d+\.\d+$/.test(name));
      expect(stored.sort()).toEqual(names.sort());
      const { code, stderr } = await getServerStore(server).run('audit', 'verify');
      expect(code, stderr).toBe(0);
    } finally {
      await server.remove();
    }
  });
});
