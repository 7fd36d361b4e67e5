import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { isQuiet } from '../../src/observability/alerts/announcement.ts';
import { demoAlerts } from '../../src/operations/demo/alerts.ts';
import { demo, demoFleet } from '../../src/operations/demo/fleet.ts';
import { getServerStore, type Json, listErrors, useStore } from '../support/cli.ts';
import { fleet } from '../support/fleet.ts';
import { runInProcess } from '../support/in-process.ts';
import { onEachStore, onEachStoreInLongRuns, useServer } from '../support/server.ts';

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

onEachStore('the alerts of the demo', (store) => {
  const server = useServer(store, {
    fleet: demoFleet(Date.now(), { withCosts: false }),
    // As the demo.
    args: ['--webhook-allow-private', 'yes'],
  });
  const token = demo.writer;
  const call = async (method: string, path: string, body?: object): Promise<Json> => {
    const response = await server.call({ method, path: `/api/v2${path}`, token, ...(body && { body }) });
    expect(response.status, response.text).toBe(200);
    return response.json.data;
  };
  /** What the next start of the demo does. */
  const startAgain = () => getServerStore(server).plan(demoFleet(Date.now() + 1000, { withCosts: false }));

  it('are created once, and can be evaluated', async () => {
    const alerts = await call('GET', '/alerts');
    expect(alerts).toMatchObject(
      demoAlerts.map(({ id, name, severity }) => ({ id, name, severity, teamId: demo.organizationId })),
    );
    // The API checks the columns and expressions with the engine.
    for (const alert of alerts) expect(await call('PUT', `/alerts/${alert.id}`, alert)).toMatchObject({ id: alert.id });
    expect(await startAgain()).toEqual([]);
  });

  it('send nothing, at any time', async () => {
    for (const { quietHours } of await call('GET', '/alerts')) {
      for (let hour = 0; hour < 7 * 24; hour++)
        expect(isQuiet(quietHours, Date.parse('2026-11-09T00:00:00Z') + hour * 3_600_000)).toBe(true);
    }
  });

  it('stay as the user changed them, and stay deleted, also with what they refer to', async () => {
    const [errors, slowSearch] = await call('GET', '/alerts');
    const [channel] = await call('GET', '/webhooks');
    await call('PUT', `/webhooks/${channel.id}`, { ...channel, name: 'Renamed' });
    await call('PUT', `/alerts/${slowSearch.id}`, { ...slowSearch, threshold: 1, quietHours: null });
    // Deletes the alert too.
    await call('DELETE', `/saved-searches/${errors.savedSearchId}`);
    expect(await startAgain()).toEqual([]);
    expect(await call('GET', '/alerts')).toMatchObject([{ id: slowSearch.id, threshold: 1, quietHours: null }]);
    await call('DELETE', `/alerts/${slowSearch.id}`);
    await call('DELETE', `/webhooks/${channel.id}`);
    expect(await startAgain()).toEqual([]);
    for (const path of ['/alerts', '/saved-searches', '/webhooks']) expect(await call('GET', path)).toEqual([]);
  });
});
