import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { demoFleet } from '../../src/operations/demo/fleet.ts';
import { listErrors, useStore } from '../support/cli.ts';
import { fleet } from '../support/fleet.ts';
import { runInProcess } from '../support/in-process.ts';
import { onEachStoreInLongRuns } from '../support/server.ts';

type Command = ReturnType<typeof runInProcess>;

onEachStoreInLongRuns('serve on a store that the demo has used', (store) => {
  const at = useStore(store);
  let running: Command | undefined;
  afterEach(async () => {
    running?.stop();
    await running?.finished;
    running = undefined;
  });

  const applyDemo = async () => {
    const { code, stderr } = await at.apply(demoFleet(Date.now(), { withCosts: false }));
    expect([code, stderr]).toEqual([0, '']);
  };
  const serve = (...args: string[]): Command => {
    running = runInProcess(['serve', '--port', '0', ...at.args, ...args]);
    return running;
  };
  /** Everything that it prints on standard error until it stops. */
  const stop = async ({ stop: end, finished }: Command): Promise<string> => {
    end();
    return (await finished).stderr;
  };

  it('warns on a loopback address: its credentials are public', async () => {
    await applyDemo();
    const server = serve();
    const { url } = JSON.parse((await server.firstLine) ?? '{}');
    const { json } = await fetch(`${url}/console/config`).then(async (response) => ({ json: await response.json() }));
    expect((json as { demo: unknown }).demo).toBeNull();
    expect(await stop(server)).toMatch(/^warning: .* contains the demo organization, whose credentials are public;/);
  });

  it('refuses to listen on other addresses', async () => {
    await applyDemo();
    for (const host of ['0.0.0.0', '::', '192.0.2.1', 'pilothouse.example']) {
      const finished = await serve('--host', host).finished;
      expect([finished.code, finished.stdout]).toEqual([2, '']);
      expect(listErrors(finished)).toEqual([
        expect.stringMatching(`contains the demo organization, .*; --host must be a loopback address, not "${host}"`),
      ]);
    }
  });

  it('notices a demo organization that its own fleet file declares', async () => {
    const file = join(at.directory, 'demo.json');
    writeFileSync(file, JSON.stringify(demoFleet(Date.now(), { withCosts: false })));
    const finished = await serve('--host', '0.0.0.0', '--fleet', file).finished;
    expect([finished.code, listErrors(finished)]).toEqual([2, [expect.stringContaining('the demo organization')]]);
  });

  it('says nothing about other stores', async () => {
    await at.apply(fleet);
    const server = serve();
    expect(await server.firstLine).toContain('"ready":true');
    expect(await stop(server)).toBe('');
  });
});
