import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { demoFleet } from '../../src/demo/fleet.ts';
import { listErrors, useStore } from '../support/cli.ts';
import { fleet } from '../support/fleet.ts';
import { type Program, spawnProgram } from '../support/process.ts';
import { onEachStore } from '../support/server.ts';

onEachStore('serve on a store that the demo has used', (store) => {
  const at = useStore(store, { inProcess: false });
  let running: Program | undefined;
  afterEach(async () => {
    running?.kill('SIGTERM');
    await running?.ended;
    running = undefined;
  });

  const applyDemo = async () => {
    const { code, stderr } = await at.apply(demoFleet(Date.now(), { withCosts: false }));
    expect([code, stderr]).toEqual([0, '']);
  };
  const serve = (...args: string[]) => {
    running = spawnProgram(['serve', '--port', '0', '--log-level', 'error', ...at.args, ...args]);
    return running;
  };

  it('warns on a loopback address: its credentials are public', async () => {
    await applyDemo();
    const server = serve();
    const { url } = JSON.parse((await server.firstLine) ?? '{}');
    expect(server.stderr()).toMatch(/^warning: .* contains the demo organization, whose credentials are public;/);
    const { json } = await fetch(`${url}/console/config`).then(async (response) => ({ json: await response.json() }));
    expect((json as { demo: unknown }).demo).toBeNull();
  });

  it.each(['0.0.0.0', '::', '192.0.2.1', 'pilothouse.example'])('refuses to listen on %s', async (host) => {
    await applyDemo();
    const finished = await at.run('serve', '--port', '0', '--log-level', 'error', '--host', host);
    expect([finished.code, finished.stdout]).toEqual([2, '']);
    expect(listErrors(finished)).toEqual([
      expect.stringMatching(`contains the demo organization, .*; --host must be a loopback address, not "${host}"`),
    ]);
  });

  it('notices a demo organization that its own fleet file declares', async () => {
    const file = join(at.directory, 'demo.json');
    writeFileSync(file, JSON.stringify(demoFleet(Date.now(), { withCosts: false })));
    const finished = await at.run('serve', '--port', '0', '--host', '0.0.0.0', '--fleet', file);
    expect([finished.code, listErrors(finished)]).toEqual([2, [expect.stringContaining('the demo organization')]]);
  });

  it('says nothing about other stores', async () => {
    await at.apply(fleet);
    const server = serve();
    expect(await server.firstLine).toContain('"ready":true');
    expect(server.stderr()).toBe('');
  });
});
