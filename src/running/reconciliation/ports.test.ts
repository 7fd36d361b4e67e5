import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { createTestSession } from '../../../test/support/leases.ts';
import { createDatabase, findFreePort, MIGRATED } from '../../../test/support/postgres.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { createServiceRecord } from '../../../test/support/service-record.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import type { Service } from '../../management/services/service.ts';
import { createAttemptLimit } from '../../platform/http/limits/attempt-limit.ts';
import { openState } from '../../platform/state/open.ts';
import type { State } from '../../platform/state/state.ts';
import { createProxy } from '../proxy/proxy.ts';
import { createEndpoints } from './endpoints.ts';
import { createPorts, type PortRange } from './ports.ts';

const ANY = { first: 0, last: 0 };
const WEBHOOK = { upstream: { host: '127.0.0.1', port: 1, headers: {} } };
const services = Array.from({ length: 20 }, (_, index) => createServiceRecord(index + 1, { driver: 'embedded' }));
const [first, second, third] = services as [Service, Service, Service];

onEachStore('the port of a service', (store) => {
  let directory: string;
  let database: { url: string; drop(): Promise<void> } | undefined;
  let state: State;
  let close: (() => Promise<void>)[] = [];
  let range: PortRange;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    state = await openState({ dataDirectory: directory, databaseUrl: database?.url, clock: systemClock });
    const free = await findFreePort();
    range = { first: free, last: free + 200 };
  });

  afterEach(async () => {
    for (const step of close) await step();
    close = [];
    await state.close();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** The endpoints of a process that has just started. */
  function start(ports: PortRange = range, native?: PortRange) {
    const proxy = createProxy({
      clock: systemClock,
      log: { debug() {}, warn() {} },
      host: '127.0.0.1',
      attempts: createAttemptLimit(systemClock),
      ignoredAgents: [],
      ignoredStatements: [],
      wake: async () => {},
    });
    const endpoints = createEndpoints({
      proxy,
      host: '127.0.0.1',
      ports: createPorts({ state, getState: () => createTestSession(state).state, ranges: { http: ports, native } }),
    });
    close.push(() => proxy.closeAll());
    return {
      endpoints,
      open: async (service: Service) => (await endpoints.open(service, undefined))?.port,
      stop: () => proxy.closeAll(),
    };
  }

  it.each(['a range', 'any free port'])('is kept from a service that is started before it, with %s', async (kind) => {
    const ports = kind === 'a range' ? range : ANY;
    const before = start(ports);
    const port = await before.open(first);
    await before.stop();
    const after = start(kind === 'a range' ? range : { first: port as number, last: (port as number) + 100 });
    expect(await after.open(second)).not.toBe(port);
    expect(await after.open(first)).toBe(port);
  });

  it('is one port for each service, also if two nodes give ports at the same time', async () => {
    const [one, other] = [start(), start()];
    const opened = await Promise.all(services.map((service, index) => (index % 2 ? one : other).open(service)));
    expect(new Set(opened).size).toBe(services.length);
  });

  it('can be given to another service after the service is deleted, not before', async () => {
    const { endpoints, open } = start();
    const port = await open(first);
    await endpoints.close(first.id);
    expect(await open(second)).not.toBe(port);
    await endpoints.remove(first);
    expect(await open(third)).toBe(port);
  });

  it('is the next one if another program uses a port, and the error names the setting if there is none', async () => {
    const port = range.first;
    const other = createServer().listen(port, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    close.push(async () => void other.close());
    const { open } = start({ first: port, last: port });
    await expect(open(first)).rejects.toThrow(
      `All ports from ${port} to ${port} are in use; widen --endpoint-ports (PILOTHOUSE_ENDPOINT_PORTS)`,
    );
    expect(await start().open(first)).toBeGreaterThan(port);
  });

  it('is another one for the native protocol, which is kept and given back as well', async () => {
    const native = { first: range.first + 100, last: range.last };
    const open = async (endpoints: ReturnType<typeof start>['endpoints'], service: Service) => {
      const { port = 0, nativePort = 0 } = (await endpoints.open(service, undefined)) ?? {};
      expect(nativePort).toBeGreaterThanOrEqual(native.first);
      return [port, nativePort];
    };
    const before = start(range, native);
    const own = await open(before.endpoints, first);
    expect(await before.endpoints.open(createServiceRecord(21, { driver: 'webhook' }), WEBHOOK)).not.toHaveProperty(
      'nativePort',
    );
    await before.stop();
    const { endpoints } = start(range, native);
    expect(await open(endpoints, second)).not.toContain(own[1]);
    expect(await open(endpoints, first)).toEqual(own);
    await endpoints.remove(first);
    expect(await open(endpoints, third)).toEqual(own);
    expect(await start(range).endpoints.open(services[5] as Service, undefined)).not.toHaveProperty('nativePort');
  });

  it('is not opened after the endpoints were closed, also if the search for a free port goes on', async () => {
    const taken = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const other = createServer().listen(range.first + index, '127.0.0.1');
        await new Promise((resolve) => other.once('listening', resolve).once('error', resolve));
        return other;
      }),
    );
    const { endpoints, open } = start();
    const opening = open(first).catch((error: Error) => error.message);
    await new Promise(setImmediate);
    await endpoints.closeAll();
    const result = await opening;
    for (const other of taken) other.close();
    expect(result).toBe('The control plane is stopping');
  });
});
