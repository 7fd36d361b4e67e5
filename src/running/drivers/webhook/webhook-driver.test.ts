import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../kernel/time/clock.ts';
import type { Desired, DrivenService } from '../../../management/services/driver.ts';
import { createWebhookDriver } from './webhook-driver.ts';

const SECRET = 'a-secret-of-the-receiver';
const signal = new AbortController().signal;
const desired = (changes: Partial<Desired> = {}): Desired => ({
  generation: 1,
  state: 'running',
  replicas: 3,
  memoryGb: 16,
  ...changes,
});
const service = (id: string, url: string, secret = SECRET): DrivenService => ({
  id,
  organizationId: 'organization',
  name: 'analytics',
  webhook: { url, secret },
});

function useDriver(allowPrivate = true) {
  const driver = createWebhookDriver({ clock: systemClock, allowPrivate });
  onTestFinished(() => driver.close());
  return driver;
}

describe('the webhook driver and the example receiver in a process of its own', () => {
  let receiver: ChildProcess;
  let url = '';
  beforeAll(async () => {
    receiver = spawn(process.execPath, ['examples/webhook-receiver.mjs'], {
      env: { ...process.env, SECRET, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(receiver.stdout ?? receiver, 'data');
    url = String(line).trim();
  });
  afterAll(() => receiver.kill());

  it('delivers what is desired, and observes what the receiver reports', async () => {
    const driver = useDriver();
    const own = service('delivered', `${url}hook?token=in-the-address`);
    expect(await driver.observe(own, signal)).toMatchObject({ state: 'provisioning' });
    await driver.converge(own, desired(), signal);
    expect(await driver.observe(own, signal)).toEqual({
      state: 'running',
      generation: 1,
      replicas: 3,
      memoryGb: 16,
      evidence: { generation: 1 },
    });
    await driver.converge(own, desired({ generation: 2, state: 'idle' }), signal);
    expect((await driver.observe(own, signal)).state).toBe('idle');
    await driver.converge(own, desired({ generation: 3, state: 'deleted' }), signal);
    expect(await driver.observe(own, signal)).toEqual({ state: 'deleted' });
  });

  it('a repeated or overtaken delivery changes nothing', async () => {
    const driver = useDriver();
    const own = service('repeated', url);
    await driver.converge(own, desired({ generation: 5, memoryGb: 32 }), signal);
    await driver.converge(own, desired({ generation: 5, memoryGb: 32 }), signal);
    await driver.converge(own, desired({ generation: 4, memoryGb: 8 }), signal);
    expect(await driver.observe(own, signal)).toMatchObject({ state: 'running', memoryGb: 32 });
  });

  it('a receiver rejects another secret', async () => {
    const driver = useDriver();
    const own = service('stolen', url, 'another-secret-of-16');
    const failure = { code: 'unavailable', message: 'The webhook failed: 127.0.0.1 responded with status 401' };
    await expect(driver.converge(own, desired(), signal)).rejects.toMatchObject(failure);
    await expect(driver.observe(own, signal)).rejects.toMatchObject(failure);
  });
});

describe('the webhook driver and the answers of a receiver', () => {
  let server: Server;
  let url = '';
  let answer: { status: number; body: string } = { status: 200, body: '' };
  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(answer.status).end(answer.body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const reply = (body: object | string) => {
    answer = { status: 200, body: typeof body === 'string' ? body : JSON.stringify(body) };
  };

  it('observes the generation that the receiver has acted on', async () => {
    const driver = useDriver();
    const own = service('behind', url);
    await driver.converge(own, desired({ generation: 4, memoryGb: 32 }), signal);
    reply({ generation: 3, state: 'running' });
    expect(await driver.observe(own, signal)).toEqual({
      state: 'running',
      generation: 3,
      evidence: { generation: 3 },
    });
  });

  it('has the endpoint of a running service, with a checked address', async () => {
    const driver = useDriver();
    const own = service('endpoint', url);
    const endpoint = { url: 'http://127.0.0.1:8123', username: 'proxy', password: 'of-the-database' };
    reply({ generation: 1, state: 'running', ...endpoint, load: { memoryBytes: 5 } });
    expect(await driver.observe(own, signal)).toMatchObject({
      upstream: {
        host: '127.0.0.1',
        port: 8123,
        headers: { 'X-ClickHouse-User': 'proxy', 'X-ClickHouse-Key': 'of-the-database' },
      },
      load: { memoryBytes: 5 },
    });
    reply({ generation: 1, state: 'stopped', ...endpoint });
    expect(await driver.observe(own, signal)).not.toHaveProperty('upstream');
  });

  it.each([
    ['not JSON', 'The webhook receiver sent a status that is not JSON'],
    [{ state: 'running' }, 'status.generation: The value is required <missing>'],
    [{ generation: 1, state: 'fine' }, 'status.state: The value must be one of provisioning, '],
    [{ generation: 1, state: 'running', url: 'http://169.254.169.254/' }, 'status.url: The address is link-local'],
    [{ generation: 1, state: 'running', url: 'https://db/' }, 'status.url: '],
    [
      { generation: 1, state: 'running', password: 'secret\r\nX: y' },
      'status.password: The value is not valid <string>',
    ],
    ['x'.repeat(70_000), 'is larger than 64 KiB'],
  ])('rejects the status %#', async (body, message) => {
    reply(body);
    const observed = useDriver().observe(service('invalid', url), signal);
    await expect(observed).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining(message) });
  });

  it('calls no private address unless that is allowed', async () => {
    const driver = useDriver(false);
    const failure = { message: expect.stringContaining('The address is private') };
    await expect(driver.observe(service('private', url), signal)).rejects.toMatchObject(failure);
    await expect(
      driver.converge(service('private', url.replace('127.0.0.1', 'localhost')), desired(), signal),
    ).rejects.toMatchObject(failure);
  });

  it('ends when it is canceled, and needs a webhook', async () => {
    const driver = useDriver();
    await expect(driver.observe(service('canceled', url), AbortSignal.abort())).rejects.toMatchObject({
      code: 'unavailable',
    });
    const { webhook: _, ...bare } = service('bare', url);
    await expect(driver.observe(bare, signal)).rejects.toMatchObject({ code: 'conflict' });
  });
});
