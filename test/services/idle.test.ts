import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { useClockedServer } from '../support/clocked-server.ts';
import { acme } from '../support/fleet.ts';
import { useServices } from '../support/running-service.ts';
import { useStatements } from '../support/statements.ts';
import { until } from '../support/until.ts';

// Starts the processes of services.
vi.setConfig({ testTimeout: 180_000 });

const MINUTE_MS = 60_000;

/** The id of a process by its working directory. */
const findProcess = (directory: string): string | undefined =>
  readdirSync('/proc').find((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`) === directory;
    } catch {
      return false;
    }
  });

const HOURS_PER_MONTH = 732;

describe('an embedded service without queries', () => {
  const server = useClockedServer('libsql', { settings: { endpointPorts: '0', rateLimit: 'off' }, isShared: true });
  const services = useServices({ call: (call) => server.call(call) });
  /** A change of the service makes the reconciler look at it. */
  const touch = (id: string, value: string) =>
    services.send('PATCH', `/${id}`, { tags: { add: [{ key: 'touched', value }] } });
  const letIdle = async (id: string) => {
    server.now += 16 * MINUTE_MS;
    await touch(id, String(server.now));
    return services.untilState(id, 'idle');
  };

  it('idles after its timeout, and the next query wakes it', async () => {
    const { id, query } = await services.create();
    expect(await services.readIdle(id)).toMatchObject({
      state: 'running',
      blockers: [{ type: 'new' }],
      idleAt: new Date(server.now + 15 * MINUTE_MS).toISOString().replace('.000Z', 'Z'),
    });
    expect(await letIdle(id)).toMatchObject({
      state: 'idle',
      status: { desiredState: 'idle', reason: 'No queries for 15 minutes' },
    });
    expect((await services.readIdle(id)).blockers).toEqual([]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => query('SELECT version()', { headers: { 'user-agent': 'a-client/1.0' } })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await services.untilState(id, 'running');
    expect(await services.readIdle(id)).toMatchObject({
      blockers: [{ type: 'recent_query' }],
      lastWake: { cause: 'query', address: '127.0.0.1', userAgent: 'a-client/1.0', statement: 'SELECT' },
    });
    const types = (await services.listActivities(id)).map(({ activityType }) => activityType);
    expect(types.filter((type) => type === 'service_awaken')).toHaveLength(1);
    expect(types).toContain('service_idle');
  });

  it('is woken by a statement by role, which says so', async () => {
    const { id } = await services.create();
    await letIdle(id);
    const statements = useStatements({ url: server.url, call: (call) => server.call(call) });
    const { lines, rows } = await statements.run(id, 'SELECT 1');
    expect([lines[0], rows]).toEqual([{ waking: true }, [[1]]]);
    await services.untilState(id, 'running');
    expect(await services.readIdle(id)).toMatchObject({ lastWake: { cause: 'query', statement: 'SELECT' } });
  });

  it('answers all waiting queries although its process is killed while it wakes', async () => {
    const { id, query } = await services.create();
    await letIdle(id);
    const data = join(server.directory, 'data/services', id, 'data');
    const answers = Promise.all(Array.from({ length: 50 }, () => query('SELECT 7')));
    const pid = await until(
      async () => findProcess(data),
      (found) => found !== undefined,
      'no process is started',
    );
    process.kill(Number(pid), 'SIGKILL');
    expect(new Set((await answers).map(({ status, text }) => `${status} ${text}`))).toEqual(new Set(['200 7']));
  });

  it('is not woken by pings or wrong passwords, and not kept awake by health probes', async () => {
    const { id, url, query } = await services.create();
    await letIdle(id);
    const ping = await fetch(`${url}/ping`);
    expect([await ping.text(), ping.headers.get('x-pilothouse-service-state')]).toEqual(['Ok.\n', 'idle']);
    expect((await fetch(`${url}/?query=SELECT+1&user=default&password=wrong`)).status).toBe(401);
    expect(await services.read(id)).toMatchObject({ state: 'idle' });
    expect(await query('SELECT 1;')).toEqual({ status: 200, text: '1' });
    await services.untilState(id, 'running');
    server.now += MINUTE_MS;
    await touch(id, 'again');
    await services.untilState(id, 'idle');
  });

  it('is charged for the minutes that it ran, and for nothing while it idles', async () => {
    const { id } = await services.create({ minReplicaMemoryGb: 16, numReplicas: 3 });
    const readCost = async () => {
      await server.flushUsage();
      const day = new Date(server.now).toISOString().slice(0, 10);
      const path = `/v1/organizations/${acme.id}/usageCost?from_date=${day}&to_date=${day}`;
      const { costs } = (await server.call({ path, key: acme.admin })).json.result;
      return costs.find(({ entityId }: { entityId: string }) => entityId === id)?.metrics.computeCHC ?? 0;
    };
    server.now += 10 * MINUTE_MS;
    const running = await readCost();
    const preview = (await services.send('POST', `/${id}/scaling/preview`, { numReplicas: 6 })).json.result;
    // S8: one replica runs, whatever was asked for; it is what is shown, estimated and billed.
    const { before, after } = preview.monthlyCost;
    expect([before.replicas, after.replicas, after.max]).toEqual([1, 1, before.max]);
    expect(await services.read(id)).toMatchObject({
      numReplicas: 3,
      currentScaling: { effectiveMinReplicas: 1, effectiveMaxReplicas: 1, effectiveMinReplicaMemoryGb: 16 },
      status: { requested: { replicas: 3 }, observed: { replicas: 1 }, maxReplicas: 1 },
    });
    const metrics = (await services.send('GET', `/${id}/prometheus`)).text;
    expect(metrics).toMatch(/pilothouse_service_running_replicas\{.*\} 1\n/);
    expect(metrics).toMatch(/clickhouse_version="\d+\.\d+/);
    expect(running).toBeGreaterThan(0);
    const gbHour = preview.monthlyCost.after.max / (120 * HOURS_PER_MONTH);
    expect(running).toBeCloseTo(gbHour * 16 * (10 / 60), 4);
    server.now += 6 * MINUTE_MS;
    await touch(id, 'idle');
    await services.untilState(id, 'idle');
    const idle = await readCost();
    server.now += 60 * MINUTE_MS;
    expect(await readCost()).toBe(idle);
  });
});
