import { spawn, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { readHaproxyConfiguration } from '../../tools/haproxy.mjs';
import { acme } from '../support/fleet.ts';
import { isLongRun } from '../support/long-run.ts';
import { findFreePort } from '../support/postgres.ts';
import { type Program, spawnProgram } from '../support/process.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

// Starts three nodes and a proxy.
vi.setConfig({ testTimeout: 600_000 });

const NODES = 3;
const READERS = 5;
const authorization = `Basic ${Buffer.from(`${acme.admin.keyId}:${acme.admin.keySecret}`).toString('base64')}`;
const hasHaproxy = existsSync('/usr/sbin/haproxy');

const STATISTICS = '  stats enable\n  stats uri /haproxy\n';

describe.skipIf(!isLongRun || !hasHaproxy || inject('postgresUrl') === '')('three nodes behind HAProxy', () => {
  let first: TestServer;
  let ports: number[];
  const nodes: Program[] = [];
  let proxy: ReturnType<typeof spawn>;
  let url: string;

  async function startNode(index: number): Promise<void> {
    const store = ['--data', join(first.directory, `node-${index}`), '--database-url', first.databaseUrl ?? ''];
    const node = spawnProgram([
      'serve',
      '--port',
      String(ports[index]),
      '--rate-limit',
      'off',
      ...store,
      ...first.args,
    ]);
    nodes[index] = node;
    expect(await node.firstLine, node.stderr()).toContain('"ready":true');
  }

  beforeAll(async () => {
    // Creates the store, and keeps its ClickHouse server.
    first = await startServer('postgres', { sharedEngine: true });
    ports = await Promise.all(Array.from({ length: NODES }, findFreePort));
    await Promise.all(ports.map((_, index) => startNode(index)));
    const port = await findFreePort();
    const file = join(first.directory, 'haproxy.cfg');
    writeFileSync(file, readHaproxyConfiguration(port, ports, STATISTICS));
    expect(spawnSync('/usr/sbin/haproxy', ['-c', '-q', '-f', file]).status).toBe(0);
    proxy = spawn('/usr/sbin/haproxy', ['-db', '-f', file], { stdio: 'ignore' });
    url = `http://127.0.0.1:${port}/v1/organizations/${acme.id}/services/${acme.secondary}`;
    await until(
      () =>
        fetch(url, { headers: { authorization } }).then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status === 200,
      'the proxy does not respond',
    );
  }, 300_000);
  afterAll(async () => {
    proxy?.kill();
    for (const node of nodes) node.kill('SIGTERM');
    await Promise.all(nodes.map(({ ended }) => ended));
    await first?.remove();
  });

  /** Sends requests one after the other until `stop` is called. */
  function startClient(send: () => Promise<string | undefined>) {
    const results = { count: 0, failures: [] as string[] };
    let isStopping = false;
    const ended = (async () => {
      for (; !isStopping; await delay(2), results.count++) {
        const failure = await send().catch((error: Error) => String(error.cause ?? error));
        if (failure !== undefined) results.failures.push(failure);
      }
    })();
    const stop = () => {
      isStopping = true;
      return ended;
    };
    return { results, stop };
  }

  async function read(): Promise<string | undefined> {
    const response = await fetch(url, { headers: { authorization } });
    await response.arrayBuffer();
    return response.status === 200 ? undefined : `GET: ${response.status}`;
  }

  let lastValue = 5;
  /** Every change differs from the one before. */
  async function change(): Promise<string | undefined> {
    const idleTimeoutMinutes = ++lastValue;
    const response = await fetch(`${url}/scaling`, {
      method: 'PATCH',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ idleTimeoutMinutes }),
    });
    const { result } = (await response.json()) as { result?: { idleTimeoutMinutes: number } };
    return result?.idleTimeoutMinutes === idleTimeoutMinutes ? undefined : `PATCH: ${response.status}`;
  }

  /** Until the health check of HAProxy has found the node. */
  const untilFound = (index: number) =>
    until(
      async () => (await fetch(new URL('/haproxy;csv', url))).text(),
      (table) => new RegExp(`^nodes,node${index},.*,UP,`, 'm').test(table),
      'HAProxy does not find the node',
    );

  const countActivities = async (): Promise<number> => {
    const path = `/v1/organizations/${acme.id}/activities?limit=1000&resource_id=${acme.secondary}`;
    return (await first.call({ path, key: acme.admin })).json.result.length;
  };

  it('are restarted one after the other without a failed request or a lost change', async () => {
    const before = await countActivities();
    const writer = startClient(change);
    const readers = Array.from({ length: READERS }, () => startClient(read));
    for (const [index, node] of [...nodes.entries()]) {
      const { count } = writer.results;
      await until(
        async () => writer.results.count,
        (current) => current > count + 5,
        'no changes are made',
      );
      node.kill('SIGTERM');
      expect(await node.ended).toBe(0);
      await startNode(index);
      await untilFound(index);
    }
    await Promise.all([writer, ...readers].map(({ stop }) => stop()));
    expect([writer, ...readers].flatMap(({ results }) => results.failures)).toEqual([]);
    expect(await countActivities()).toBe(before + Math.min(writer.results.count, 1000 - before));
  });
});
