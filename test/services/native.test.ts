import { describe, expect, it, vi } from 'vitest';
import { useClockedServer } from '../support/clocked-server.ts';
import { connectNative } from '../support/native-client.ts';
import { useServices } from '../support/running-service.ts';
import { until } from '../support/until.ts';

// Starts the processes of services.
vi.setConfig({ testTimeout: 180_000 });

const MINUTE_MS = 60_000;

describe('the native protocol of an embedded service', () => {
  const server = useClockedServer('libsql', { settings: { endpointPorts: '0', rateLimit: 'off' }, isShared: true });
  const services = useServices({ call: (call) => server.call(call) });

  const readPort = async (id: string): Promise<number> => {
    const { endpoints } = await services.read(id);
    expect(endpoints).toMatchObject([
      { protocol: 'http', host: '127.0.0.1', username: 'default' },
      { protocol: 'native', host: '127.0.0.1', username: 'default' },
    ]);
    return endpoints[1].port;
  };

  /** Waits until no query keeps the service from idling, and lets it idle. */
  const letIdle = async (id: string) => {
    await until(
      () => services.readIdle(id),
      ({ blockers }) => !blockers.some(({ type }: { type: string }) => type === 'running_query'),
      'a query is running',
    );
    server.now += 16 * MINUTE_MS;
    await services.send('PATCH', `/${id}`, { tags: { add: [{ key: 'touched', value: String(server.now) }] } });
    await services.untilState(id, 'idle');
  };

  it('has a port in the record; a silent connection does not keep the service awake, and a new one wakes it', async () => {
    const { id, password } = await services.create();
    const port = await readPort(id);
    const silent = await connectNative({ port, password });
    await silent.query('CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n');
    expect(await services.readIdle(id)).toMatchObject({ blockers: [{ type: 'running_query' }, { type: 'new' }] });
    await letIdle(id);
    await silent.closed;
    await expect(connectNative({ port, password: 'wrong' })).rejects.toThrow('Authentication failed');
    expect((await services.read(id)).state).toBe('idle');
    const client = await connectNative({ port, password, clientName: 'a client' });
    await client.insert('t', 'n', [1, 2]);
    expect(await client.query('SELECT sum(n) FROM t')).toEqual([[3]]);
    await client.close();
    await services.untilState(id, 'running');
    expect((await services.readIdle(id)).lastWake).toMatchObject({ cause: 'query', userAgent: 'a client' });
  });

  it('keeps its port when the service is resized and the server restarts', async () => {
    const { id, password } = await services.create();
    const port = await readPort(id);
    const client = await connectNative({ port, password });
    await services.send('PATCH', `/${id}/replicaScaling`, { minReplicaMemoryGb: 32, maxReplicaMemoryGb: 32 });
    await client.closed;
    const resized = await connectNative({ port, password });
    expect(await resized.query('SELECT toUInt8(1)')).toEqual([[1]]);
    await resized.close();
    await server.restart();
    await services.untilState(id, 'running');
    expect(await readPort(id)).toBe(port);
    await (await connectNative({ port, password })).close();
  });
});
