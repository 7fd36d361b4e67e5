import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { acme } from '../support/fleet.ts';
import { spawnProgram } from '../support/process.ts';
import { head, openRawConnection } from '../support/raw.ts';
import { onEachStore, onEachStoreInLongRuns, startServer } from '../support/server.ts';
import { until } from '../support/until.ts';

// Starts and stops servers under load.
vi.setConfig({ testTimeout: 180_000 });

const service = `/v1/organizations/${acme.id}/services/${acme.primary}`;
const basic = `Basic ${Buffer.from(`${acme.admin.keyId}:${acme.admin.keySecret}`).toString('base64')}`;

/** Resolves once the port no longer accepts connections. */
async function untilPortClosed(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const attempt = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect({ host: hostname, port: Number(port) }, () => {
        socket.destroy();
        resolve(false);
      });
      socket.once('error', () => resolve(true));
    });
  await until(attempt, (isRefused) => isRefused, 'the port still accepts connections');
}

const CLIENTS = 16;

/** Resolves with the status, or the code of the error. */
const sendRequest = (url: string, agent: Agent): Promise<number | string> =>
  new Promise((resolve) => {
    const request = get(`${url}/healthz`, { agent }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
      response.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
    request.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });

onEachStore('stopping', (store) => {
  it('SIGTERM rejects new connections, finishes the request in flight, keeps its change and exits 0', async () => {
    const server = await startServer(store);
    try {
      const body = '{"numReplicas":11}';
      const upload = await openRawConnection(server.url);
      upload.send(
        head(
          `PATCH ${service}/scaling HTTP/1.1`,
          'Host: h',
          `Authorization: ${basic}`,
          'Content-Type: application/json',
          `Content-Length: ${body.length}`,
          'Expect: 100-continue',
        ),
      );
      expect((await upload.response()).status).toBe(100);
      upload.send(body.slice(0, 5));
      const exit = server.stop('SIGTERM');
      await untilPortClosed(server.url);
      upload.send(body.slice(5));
      const { status, json } = await upload.response();
      expect([status, json.result?.numReplicas]).toEqual([200, 11]);
      expect(await exit).toBe(0);
      await upload.closed;
      await server.restart();
      expect((await server.call({ path: service, key: acme.admin })).json.result.numReplicas).toBe(11);
    } finally {
      await server.remove();
    }
  });
});

onEachStoreInLongRuns('connections of a server that stops', (store) => {
  it('SIGTERM fails no request that was sent before the port closed, on new or kept-alive connections', async () => {
    const server = await startServer(store);
    const agents = Array.from({ length: CLIENTS }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    try {
      const outcomes: (number | string)[] = [];
      const sendUntilRefused = async (agent: Agent) => {
        while (!outcomes.includes('ECONNREFUSED')) outcomes.push(await sendRequest(server.url, agent));
      };
      const clients = Promise.all(agents.map(sendUntilRefused));
      await until(
        async () => outcomes.length,
        (count) => count >= CLIENTS * 20,
        'no requests are sent',
      );
      const exit = server.stop('SIGTERM');
      await clients;
      expect(await exit).toBe(0);
      expect(outcomes).toContain('ECONNREFUSED');
      expect(outcomes.filter((outcome) => outcome !== 200 && outcome !== 'ECONNREFUSED')).toEqual([]);
    } finally {
      for (const agent of agents) agent.destroy();
      await server.remove();
    }
  });

  it('SIGTERM serves requests that are on their way on idle connections, and then closes these', async () => {
    const server = await startServer(store);
    try {
      const connections = await Promise.all(Array.from({ length: 10 }, () => openRawConnection(server.url)));
      for (const connection of connections) {
        connection.send(head('GET /healthz HTTP/1.1', 'Host: h'));
        expect((await connection.response()).status).toBe(200);
      }
      const silent = await openRawConnection(server.url);
      const exit = server.stop('SIGTERM');
      for (const connection of [...connections, silent])
        connection.send(head(`GET ${service} HTTP/1.1`, 'Host: h', `Authorization: ${basic}`));
      for (const connection of [...connections, silent]) {
        expect((await connection.response()).status).toBe(200);
        await connection.closed;
      }
      expect(await exit).toBe(0);
    } finally {
      await server.remove();
    }
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('%s stops an idle server, even with open connections', async (signal) => {
    const server = await startServer(store);
    try {
      const idle = await openRawConnection(server.url);
      idle.send(head('GET /healthz HTTP/1.1', 'Host: h'));
      expect((await idle.response()).status).toBe(200);
      const silent = await openRawConnection(server.url);
      expect(await server.stop(signal)).toBe(0);
      await idle.closed;
      await silent.closed;
    } finally {
      await server.remove();
    }
  });
});

describe('the ready line', () => {
  it('is one JSON line, and the only output on standard output', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-ready-'));
    const program = spawnProgram([
      'serve',
      '--port',
      '0',
      '--dashboard-port',
      '0',
      '--data',
      directory,
      '--log-level',
      'trace',
    ]);
    try {
      const { url, dashboardUrl, otlpUrl, ...rest } = JSON.parse((await program.firstLine) ?? '');
      expect(rest).toEqual({ ready: true, store: 'libsql' });
      expect(otlpUrl).toBe(`${url}/otlp`);
      for (const path of ['/healthz', '/v1/nothing', '/v1/%zz', '/api/v2/dashboards']) {
        await fetch(url + path);
        await fetch(dashboardUrl + path);
      }
      program.kill('SIGTERM');
      expect(await program.ended).toBe(0);
      expect(program.stdout()).toBe(
        `${JSON.stringify({ ready: true, url, dashboardUrl, otlpUrl, store: 'libsql' })}\n`,
      );
      // Next to the log, a store without an organization gets the link of the first run.
      const lines = program.stderr().trimEnd().split('\n');
      expect(lines.filter((line) => line.includes('/setup#code='))).toHaveLength(1);
      const logged = lines.filter((line) => line.startsWith('{'));
      expect(logged.length).toBeGreaterThan(0);
      for (const line of logged) expect(JSON.parse(line)).toHaveProperty('msg');
    } finally {
      program.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('is not printed if the port is in use: exit 1, an error message on standard error, no stack trace', async () => {
    const server = await startServer('libsql');
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-taken-'));
    try {
      const program = spawnProgram(['serve', '--port', new URL(server.url).port, '--data', directory]);
      expect(await program.ended).toBe(1);
      expect(program.stdout()).toBe('');
      expect(program.stderr()).toMatch(/^error: Port \d+ is in use by another program.*\n$/);
    } finally {
      await server.remove();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
