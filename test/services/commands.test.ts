import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/operations/demo/telemetry/random.ts';
import type { Json } from '../support/client.ts';
import { useClockedServer } from '../support/clocked-server.ts';
import { isLongRun, ROUNDS, SEED } from '../support/long-run.ts';
import { query, useServices } from '../support/running-service.ts';
import { until } from '../support/until.ts';

const MINUTE_MS = 60_000;
const COMMANDS_PER_SEQUENCE = 12;
const SEQUENCES = isLongRun ? Math.min(ROUNDS, 50) : 2;
const MOMENTS = isLongRun ? 200 : 15;
const LIMIT = { timeout: isLongRun ? 3_600_000 : 300_000 };

const isSettled = (status: Json) => status.observedGeneration === status.generation && status.inFlight === undefined;

describe('commands in quick succession', () => {
  const server = useClockedServer('libsql', { settings: { endpointPorts: '0', rateLimit: 'off' }, isShared: true });
  const services = useServices({ call: (call) => server.call(call) });
  const touch = (id: string) =>
    services.send('PATCH', `/${id}`, { tags: { add: [{ key: 'touched', value: String(Math.random()) }] } });

  it('the last of start and stop wins, also while the service is starting, resized or idling', LIMIT, async () => {
    const { id, query: run } = await services.create();
    for (const command of ['stop', 'start', 'stop', 'start'])
      expect((await services.command(id, command)).status).toBe(200);
    await services.untilState(id, 'running');
    await services.send('PATCH', `/${id}/replicaScaling`, { minReplicaMemoryGb: 24 });
    await services.command(id, 'stop');
    await services.send('PATCH', `/${id}/replicaScaling`, { minReplicaMemoryGb: 32 });
    await services.untilState(id, 'stopped');
    expect((await services.command(id, 'awake')).status).toBe(409);
    await services.command(id, 'start');
    await services.send('PATCH', `/${id}/replicaScaling`, { minReplicaMemoryGb: 40 });
    expect((await run('SELECT 1')).status).toBe(200);
    await until(
      () => services.read(id),
      ({ status }) => status.observed.replicaMemoryGb === 40 && status.inFlight === undefined,
      'the service is not resized',
    );
    server.now += 16 * MINUTE_MS;
    await touch(id);
    await until(
      () => services.read(id),
      ({ status }) => status.desiredState === 'idle',
      'the service does not idle',
    );
    expect((await services.command(id, 'stop')).json.result.state).toBe('stopping');
    await services.untilState(id, 'stopped');
    expect((await services.send('DELETE', `/${id}`)).status).toBe(200);
  });

  it('a password that is changed while the service idles is the one that wakes it', LIMIT, async () => {
    const { id, url, query: run } = await services.create();
    server.now += 16 * MINUTE_MS;
    await touch(id);
    await services.untilState(id, 'idle');
    const { password } = (await services.send('PATCH', `/${id}/password`, {})).json.result;
    // Until then, the old password would wake it.
    await until(async () => (await services.read(id)).status, isSettled, 'no step follows the change');
    expect((await run('SELECT 1')).status).toBe(401);
    expect((await services.read(id)).state).toBe('idle');
    expect(await query(url, password, 'SELECT 2')).toEqual({ status: 200, text: '2' });
  });

  it(`a query at the moment of idling leaves the service running (seed ${SEED})`, LIMIT, async () => {
    const { id, query: run } = await services.create();
    const random = createRandom(SEED);
    for (let round = 1; round <= MOMENTS; round++) {
      server.now += 16 * MINUTE_MS;
      await touch(id);
      await delay(random.between(0, 300));
      expect((await run('SELECT 2')).status).toBe(200);
      const read = async () => (await services.read(id)).status;
      const after = await until(read, isSettled, 'the state does not settle');
      expect(after.state, `round ${round}`).toBe('running');
    }
  });

  it(`a random sequence settles in the state of the last accepted command (seed ${SEED})`, LIMIT, async () => {
    const { id, url, password: first } = await services.create();
    const random = createRandom(SEED);
    const model = { isStopped: false, memoryGb: 16, password: first };
    const steps = {
      async stop() {
        expect((await services.command(id, 'stop')).status).toBe(200);
        model.isStopped = true;
      },
      async start() {
        const { status } = await services.command(id, 'start');
        // 409: the service idles. A query wakes it, so it counts as running.
        expect(model.isStopped ? [200] : [200, 409]).toContain(status);
        model.isStopped = false;
      },
      async awake() {
        expect((await services.command(id, 'awake')).status).toBe(model.isStopped ? 409 : 200);
      },
      async resize() {
        model.memoryGb = random.pick([8, 16, 24, 32]);
        const body = { minReplicaMemoryGb: model.memoryGb };
        expect((await services.send('PATCH', `/${id}/replicaScaling`, body)).status).toBe(200);
      },
      async changePassword() {
        model.password = random.hex(16);
        const newPasswordHash = createHash('sha256').update(model.password).digest('base64');
        expect((await services.send('PATCH', `/${id}/password`, { newPasswordHash })).status).toBe(200);
      },
      async letTimePass() {
        server.now += 16 * MINUTE_MS;
        await touch(id);
      },
      async wait() {
        await delay(random.between(0, 500));
      },
    };
    for (let sequence = 1; sequence <= SEQUENCES; sequence++) {
      const taken: string[] = [];
      for (let step = 1; step <= COMMANDS_PER_SEQUENCE; step++) {
        const name = random.pick(Object.keys(steps) as [keyof typeof steps]);
        taken.push(name);
        await steps[name]();
      }
      await settle(taken.join(', '));
    }

    async function settle(taken: string): Promise<void> {
      const read = async () => (await services.read(id)).status;
      await until(read, isSettled, `no step follows the last change after ${taken}`);
      // Counts as use: the service stays awake.
      const { status, text } = await query(url, model.password, 'SELECT 2');
      expect(status, `${taken}: ${text}`).toBe(model.isStopped ? 503 : 200);
      const after = await until(read, isSettled, `the state does not settle after ${taken}`);
      expect(after.state, taken).toBe(model.isStopped ? 'stopped' : 'running');
      if (!model.isStopped) expect(after.observed.replicaMemoryGb, taken).toBe(model.memoryGb);
    }
  });
});
