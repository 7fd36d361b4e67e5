import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createProviderClient } from '../../src/console/oidc/provider-client.ts';
import { systemClock } from '../../src/kernel/time/clock.ts';
import { createOtlpSender } from '../../src/observability/own-telemetry/otlp-sender.ts';
import { createSend } from '../../src/platform/notifications/senders/send.ts';
import type { Target } from '../../src/platform/notifications/senders/target.ts';
import { createSignedRequests } from '../../src/platform/webhooks/signed-requests.ts';
import { createS3Objects } from '../../src/running/backups/storage/s3-objects.ts';
import { openKubernetesClient } from '../../src/running/drivers/kubernetes/client.ts';

// Each reader waits for its own limit, the slowest for 30 s, all at the same time.
vi.setConfig({ testTimeout: 240_000 });

const MEBIBYTE = 2 ** 20;
const CHUNK = Buffer.alloc(64 * 1024, ' ');
const SIGNAL = new AbortController().signal;
const DRIP_MS = 50;

/** What a sender does after the start of its response. */
const BEHAVIORS = {
  stalls() {},
  drips(write: (chunk: Buffer) => boolean, isOpen: () => boolean) {
    const timer = setInterval(() => (isOpen() ? write(CHUNK.subarray(0, 1)) : clearInterval(timer)), DRIP_MS);
  },
  'never ends'(write: (chunk: Buffer) => boolean, isOpen: () => boolean) {
    const fill = (): void => {
      while (isOpen() && write(CHUNK));
      if (isOpen()) setTimeout(fill, 1);
    };
    fill();
  },
};
type Behavior = keyof typeof BEHAVIORS;

/** Everything that reads from another system. Each call settles, whatever the system does after the start of its response. */
const READERS: Record<string, (url: string, folder: string) => Promise<unknown>> = {
  'list of objects': (url, folder) => createObjects(url, folder).list('', SIGNAL),
  'part of an object': (url, folder) => createObjects(url, folder).read('key', { start: 0, end: 1000 }, SIGNAL),
  'uploads of parts': (url, folder) => createObjects(url, folder).abortUploads('', SIGNAL),
  'discovery of the identity provider': (url) =>
    createProviderClient({ issuer: url, clientId: 'id', clientSecret: 'secret' })(),
  'Kubernetes API server': async (url, folder) => {
    const client = openKubernetesClient({ kubeconfig: writeKubeconfig(url, folder) });
    return client
      .read({ verb: 'list', group: '', version: 'v1', namespace: 'n', resource: 'pods' }, SIGNAL)
      .finally(() => client.close());
  },
  'webhook of a driver': (url) =>
    createSignedRequests({ clock: systemClock, allowPrivate: true }).send(
      { url, secret: 'secret' },
      { method: 'GET', maxResponseBytes: MEBIBYTE },
    ),
  collector: (url) =>
    createOtlpSender({ endpoint: url, headers: {} })('/v1/logs', {}, { stopping: AbortSignal.abort(), ended: SIGNAL }),
  'receiver: generic webhook': (url) => send({ service: 'generic', url } as Target),
  'receiver: Slack': (url) => send({ service: 'slack', url } as Target),
  'receiver: Microsoft Teams': (url) => send({ service: 'teams', url } as Target),
  'mail server': (url) => send({ service: 'email', to: ['a@example.com'] } as unknown as Target, url),
};

const createObjects = (endpoint: string, folder: string) =>
  createS3Objects(
    {
      bucket: 'b',
      prefix: '',
      endpoint,
      region: 'us-east-1',
      credentialsFile: writeCredentials(folder),
      timeoutMs: 2000,
    },
    systemClock,
  );

function writeCredentials(folder: string): string {
  const path = join(folder, 'credentials');
  writeFileSync(path, 'aws_access_key_id = a\naws_secret_access_key = b\n');
  return path;
}

function writeKubeconfig(server: string, folder: string): string {
  const path = join(folder, 'kubeconfig');
  writeFileSync(
    path,
    JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
      clusters: [{ name: 'k', cluster: { server } }],
      users: [{ name: 'u', user: { token: 't' } }],
    }),
  );
  return path;
}

function send(target: Target, url = ''): Promise<unknown> {
  const mail = { url: url.replace(/^http/, 'smtp'), from: 'pilothouse@example.com' };
  const message = { eventId: 'e', name: 'n', title: 't', body: 'b', severity: 'critical', status: 'firing' } as never;
  return createSend({ clock: systemClock, allowPrivate: true, mail })(target, { id: 'i', content: { message } });
}

describe.each(Object.keys(BEHAVIORS) as Behavior[])('a system that %s in the middle of its response', (behavior) => {
  let folder: string;
  const sockets = new Set<Socket>();
  const sentBytes = new Map<string, number>();
  /** The reader of each port. */
  const urls = new Map<string, string>();
  const servers = Object.keys(READERS).map((name) => {
    const count = (bytes: number) => sentBytes.set(name, (sentBytes.get(name) ?? 0) + bytes);
    const server =
      name === 'mail server'
        ? createServer((socket) => act(socket, '220 one two\r\n250-a', socket, count))
        : createHttpServer((request, response) => {
            request.resume();
            response.writeHead(200, { 'content-type': 'application/json' });
            act(response, '{"a": "', response.socket as Socket, count);
          }).on('connection', (socket) => sockets.add(socket));
    return { name, server };
  });

  function act(to: ServerResponse | Socket, start: string, socket: Socket, count: (bytes: number) => void): void {
    sockets.add(socket);
    to.on('error', () => {});
    socket.on('error', () => {});
    to.write(start);
    const write = (chunk: Buffer): boolean => {
      count(chunk.length);
      return to.write(chunk);
    };
    BEHAVIORS[behavior](write, () => !socket.destroyed);
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pilothouse-outside-'));
    for (const { name, server } of servers) {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      urls.set(name, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    }
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    for (const { server } of servers) server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('delays and fills no reader without end', async () => {
    const outcomes = await Promise.all(
      Object.entries(READERS).map(async ([name, read]) => {
        const outcome = await read(urls.get(name) ?? '', folder).then(
          () => 'settled',
          (error: Error) => error.message,
        );
        return [name, outcome] as const;
      }),
    );
    expect(outcomes.map(([name]) => name)).toEqual(Object.keys(READERS));
    const reasons = new Map(outcomes);
    if (behavior === 'never ends') {
      expect(reasons.get('list of objects')).toContain('is larger than 8 MiB');
      expect(reasons.get('Kubernetes API server')).toContain('is larger than 16 MiB');
      expect(reasons.get('webhook of a driver')).toContain('is larger than 1 MiB');
    } else {
      expect(reasons.get('list of objects')).toContain('did not respond within 2 s');
      expect(reasons.get('Kubernetes API server')).toContain('did not respond within 10 s');
    }
    // The limit of a response, what is in buffers of the system, and a few attempts.
    for (const [name, bytes] of sentBytes) expect(bytes / MEBIBYTE, name).toBeLessThan(4 * 32);
  });
});

describe('storage for backups', () => {
  let folder: string;
  let respond: (request: IncomingMessage, response: ServerResponse) => void;
  let requests = 0;
  const server = createHttpServer((request, response) => {
    requests += 1;
    request.resume();
    respond(request, response);
  });
  const open = () => createObjects(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, folder);
  const sendXml = (response: ServerResponse, name: string, content: string) =>
    response.writeHead(200, { 'content-type': 'application/xml' }).end(`<${name}>${content}</${name}>`);
  const TRUNCATED = '<IsTruncated>true</IsTruncated>';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pilothouse-outside-'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(() => {
    requests = 0;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('that ignores ranges gives no wrong bytes, and at most 8 MiB', async () => {
    const read = () => open().read('key', { start: 10, end: 20 }, SIGNAL);
    const send = (bytes: number) => {
      respond = (_, response) => void response.writeHead(200, { 'content-length': bytes }).end(Buffer.alloc(bytes));
    };
    send(100);
    await expect(read()).rejects.toThrow('sent 100 bytes instead of the range bytes=10-19');
    send(9 * MEBIBYTE);
    await expect(read()).rejects.toThrow('is larger than 8 MiB');
  });

  it('that repeats a page of a list is given up', async () => {
    respond = (_, response) =>
      sendXml(
        response,
        'ListBucketResult',
        `${TRUNCATED}<NextContinuationToken>t${requests}</NextContinuationToken><Contents><Key>a</Key></Contents>`,
      );
    await expect(open().list('', SIGNAL)).rejects.toThrow('does not end its list of objects');
    expect(requests).toBeLessThan(20);
  });

  it('that repeats a page of uploads is asked to end each of them once', async () => {
    respond = (request, response) => {
      if (request.method === 'DELETE') response.writeHead(204).end();
      else
        sendXml(
          response,
          'ListMultipartUploadsResult',
          `${TRUNCATED}<Upload><Key>a</Key><UploadId>u</UploadId></Upload>`,
        );
    };
    await open().abortUploads('', SIGNAL);
    expect(requests).toBe(3);
  });
});
