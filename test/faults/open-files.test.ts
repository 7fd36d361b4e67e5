import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished, vi } from 'vitest';
import { PROGRAM } from '../support/server.ts';
import { until } from '../support/until.ts';

// Starts a server.
vi.setConfig({ testTimeout: 120_000 });

const LIMIT = 256;

interface Answer {
  status: number;
  retryAfter: string | undefined;
  text: string;
}

/** With a connection of its own. Undefined if the connection is closed without an answer. */
const send = (port: number): Promise<Answer | undefined> =>
  new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, path: '/v1/organizations', agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], text }),
      );
    });
    sent.on('error', () => resolve(undefined));
    sent.end();
  });

it('B3: at the limit of open files, requests get a 503, the log says why once, and the server recovers', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-files-'));
  const args = [process.execPath, PROGRAM, 'serve', '--port', '0', '--data', directory];
  const server: ChildProcess = spawn('sh', ['-c', `ulimit -n ${LIMIT}; exec "$0" "$@"`, ...args], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  server.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const connections: Socket[] = [];
  onTestFinished(async () => {
    for (const connection of connections) connection.destroy();
    server.kill();
    await once(server, 'exit');
    rmSync(directory, { recursive: true, force: true });
  });
  if (!server.stdout) expect.fail('the server has no output');
  const [ready] = await once(createInterface({ input: server.stdout }), 'line');
  const port = Number(new URL(JSON.parse(ready).url).port);
  expect((await send(port))?.status).toBe(401);

  for (let count = 0; count < LIMIT; count++) {
    const connection = connect(port, '127.0.0.1');
    connection.on('error', () => {});
    connections.push(connection);
    await once(connection, 'connect').catch(() => {});
  }
  const refused = await until(
    () => send(port),
    (answer) => answer?.status === 503,
    'no request is answered with 503',
  );
  expect(refused).toMatchObject({ retryAfter: '5', text: expect.stringContaining('too many open connections') });
  const warnings = () => log.split('\n').filter((line) => line.includes('limit of open files'));
  expect(warnings()).toHaveLength(1);
  expect(JSON.parse(warnings()[0] ?? '')).toMatchObject({ limit: LIMIT });

  for (const connection of connections.splice(0)) connection.destroy();
  await until(
    () => send(port),
    (answer) => answer?.status === 401,
    'the server does not recover',
  );
  expect(warnings()).toHaveLength(1);
});
