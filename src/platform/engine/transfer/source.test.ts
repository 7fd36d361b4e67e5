import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../kernel/time/clock.ts';
import { openClient } from '../backends/client.ts';
import { writeAccessFile } from '../backends/running-engine.ts';
import { readHistory } from '../tables/migrate.ts';
import { openEngineSource } from './source.ts';

it('a copy that was canceled before a request does not wait for an engine that hangs', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-source-'));
  let requests = 0;
  const hanging = createServer(() => {
    requests++;
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => hanging.once('listening', resolve));
  onTestFinished(() => {
    hanging.closeAllConnections();
    hanging.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const { port } = hanging.address() as AddressInfo;
  mkdirSync(join(directory, 'engine'));
  writeAccessFile(join(directory, 'engine'), {
    pid: process.pid,
    address: { host: '127.0.0.1', port, headers: {} },
    password: 'x',
  });
  const reason = new Error('canceled');
  const signal = AbortSignal.abort(reason);
  const address = { dataDirectory: directory, clock: systemClock, log: pino({ level: 'silent' }), signal };
  await expect(openEngineSource(address)).rejects.toBe(reason);
  const client = await openClient({ url: `http://127.0.0.1:${port}` });
  await expect(readHistory(client, signal)).rejects.toBe(reason);
  await client.close();
  expect(requests).toBe(0);
});
