import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { getServerStore } from '../support/cli.ts';
import type { ApiResponse, Call, Json } from '../support/client.ts';
import { acme, fleet } from '../support/fleet.ts';
import { isLongRun } from '../support/long-run.ts';
import { type Program, spawnProgram } from '../support/process.ts';
import { START_LIMIT_MS, startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { connect } from './node-usage.ts';

// Starts processes; ten restarts under load in long runs.
vi.setConfig({ testTimeout: 1_800_000 });

const NODES = 2;
/** How often each node is restarted. */
const RESTARTS = isLongRun ? 10 : 1;
const SERVICES = isLongRun ? 8 : 3;
const ids = Array.from({ length: SERVICES }, (_, index) => `5ad1c1c0-6f6e-4d0e-9a35-0000000000${10 + index}`);

interface Desired {
  generation: number;
  state: string;
}

/** A receiver of the webhook driver that reaches every state at once. */
function useReceiver() {
  const receiver = { url: '', desired: new Map<string, Desired>() };
  let server: Server;
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      if (request.method === 'POST') {
        const { service, desired } = JSON.parse(body) as { service: { id: string }; desired: Desired };
        const known = receiver.desired.get(service.id)?.generation ?? 0;
        if (desired.generation >= known) receiver.desired.set(service.id, desired);
      }
      const id = new URL(request.url ?? '', 'http://receiver').searchParams.get('service') ?? '';
      const status = receiver.desired.get(id);
      response.writeHead(request.method === 'POST' || status ? 200 : 404).end(JSON.stringify(status ?? {}));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return receiver;
}

type Node = Program & { call?: (call: Call) => Promise<ApiResponse> };

describe.skipIf(inject('postgresUrl') === '')('two nodes that are restarted one after the other under load', () => {
  const receiver = useReceiver();
  let first: TestServer;
  const nodes: Node[] = [];

  async function startNode(index: number): Promise<void> {
    const store = ['--data', join(first.directory, `node-${index}`), '--database-url', first.databaseUrl ?? ''];
    const node: Node = spawnProgram(['serve', '--port', '0', '--rate-limit', 'off', ...store, ...first.args]);
    nodes[index] = node;
    const line = await node.firstLine;
    node.call = connect(line ?? expect.fail(node.stderr()));
  }

  beforeAll(async () => {
    // Creates the store, and keeps its ClickHouse server.
    first = await startServer('postgres', {
      sharedEngine: true,
      inProcess: true,
      args: ['--webhook-allow-private', 'yes'],
    });
    const [organization, ...others] = fleet.organizations;
    const services = ids.map((id) => ({
      id,
      name: `hooked-${id.slice(-2)}`,
      driver: 'webhook',
      webhook: { url: receiver.url, secret: 'a-secret-of-16-or-more' },
    }));
    const changed = { ...organization, services: [...(organization?.services ?? []), ...services] };
    await getServerStore(first).plan({ organizations: [changed, ...others] });
    await first.stop();
    for (let index = 0; index < NODES; index++) await startNode(index);
  }, START_LIMIT_MS);
  afterAll(async () => {
    for (const node of nodes) node.kill('SIGKILL');
    await Promise.all(nodes.map(({ ended }) => ended));
    await first?.remove();
  });

  const failures: string[] = [];
  let turn = 0;
  /**
   * Sends to a node that listens. The system refuses connections while a node is down, and resets those that it had not
   * accepted when it stopped. These requests are repeated; a repeated command changes nothing. Nothing else may fail.
   */
  async function send(call: Call): Promise<Json> {
    for (;;) {
      const node = nodes[turn++ % NODES];
      try {
        const response = await node?.call?.(call);
        if (response?.status === 200) return response.json.result;
        if (response) failures.push(`${response.status}: ${response.text}`);
      } catch (error) {
        const { code } = ((error as Error).cause ?? {}) as { code?: string };
        if (code !== 'ECONNREFUSED' && code !== 'ECONNRESET') failures.push(String((error as Error).cause ?? error));
      }
      await delay(20);
    }
  }

  const path = `/v1/organizations/${acme.id}`;
  let isStopping = false;

  /** Stops and starts a service; each command must reach the receiver. Returns the number of commands. */
  async function command(id: string): Promise<number> {
    let count = 0;
    for (; !isStopping; count++) {
      const name = count % 2 === 0 ? 'stop' : 'start';
      const at = `${path}/services/${id}`;
      const { status } = await send({ method: 'PATCH', path: `${at}/state`, key: acme.admin, body: { command: name } });
      await until(
        async () => receiver.desired.get(id),
        (desired) => (desired?.generation ?? 0) >= status.generation,
        `the command ${name} was not delivered`,
      );
      expect(receiver.desired.get(id)?.state).toBe(name === 'stop' ? 'stopped' : 'running');
    }
    return count;
  }

  it('reject no request and lose no command', async () => {
    await until(
      async () => ids.filter((id) => receiver.desired.has(id)).length,
      (known) => known === SERVICES,
      'the services do not start',
    );
    const commands = Promise.all(ids.map(command));
    // Reported below.
    commands.catch(() => {});
    for (let restart = 0; restart < RESTARTS; restart++)
      for (const [index, node] of [...nodes.entries()]) {
        node.kill('SIGTERM');
        expect(await node.ended).toBe(0);
        await startNode(index);
      }
    isStopping = true;
    const counts = await commands;
    expect(failures).toEqual([]);
    for (const [index, id] of ids.entries()) {
      const count = counts[index] ?? 0;
      expect(count).toBeGreaterThan(0);
      for (const [type, expected] of [
        ['service_stop', Math.ceil(count / 2)],
        ['service_start', Math.floor(count / 2)],
      ] as const) {
        const list = `${path}/activities?limit=1000&type=${type}&resource_id=${id}`;
        expect((await send({ path: list, key: acme.admin })).length).toBe(Math.min(expected, 1000));
      }
      const record = await until(
        () => send({ path: `${path}/services/${id}`, key: acme.admin }),
        ({ status }) => status.observedGeneration === status.generation,
        'the service has not settled',
      );
      expect(record.state).toBe(count % 2 === 0 ? 'running' : 'stopped');
    }
    console.log(
      `rolling restart: ${counts.reduce((sum, count) => sum + count, 0)} commands, ${RESTARTS * NODES} restarts`,
    );
  });
});
