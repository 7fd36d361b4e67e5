import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { spawnProgram } from '../support/process.ts';
import { startServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';

// Starts two servers, and waits for a lease.
vi.setConfig({ testTimeout: 120_000 });

/** Runs a program in a PID namespace of its own, as a container does; the host name stays the same. */
const NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
const [UNSHARE = '', ...FLAGS] = NAMESPACE;
/** Without root or on another system. lease.test.ts has the rule itself, with namespaces that it makes up. */
const isPermitted = spawnSync(UNSHARE, [...FLAGS, 'true']).status === 0;

describe.skipIf(!isPermitted)('a server in another PID namespace with the same host name', () => {
  it('does not take the leases of a live process, whose id does not exist there', async () => {
    const server = await startServer('libsql');
    try {
      const readLeases = () => runSql(server, 'SELECT name, holder, token FROM leases ORDER BY name');
      const before = await readLeases();
      const second = spawnProgram(['serve', '--port', '0', '--data', join(server.directory, 'data')], {
        wrapper: NAMESPACE,
      });
      expect(await second.ended).toBe(1);
      expect(second.stderr()).toMatch(/Another node owns the embedded engine of this database/);
      expect(await readLeases()).toEqual(before);
    } finally {
      await server.remove();
    }
  });
});
