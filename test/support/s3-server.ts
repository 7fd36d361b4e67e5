import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll } from 'vitest';

/** What happens to a request instead of its answer. */
type Fault = 'forbidden' | 'broken' | 'hang' | 'lost' | undefined;

export const BUCKET = 'backups';
export const KEY = { id: 'S3RVER', secret: 'S3RVER' };

/** A real S3 server behind a proxy that can make requests fail. */
interface TestS3 {
  endpoint: string;
  credentialsFile: string;
  directory: string;
  /** `GET /bucket/key` of each request, oldest first. */
  requests: string[];
  fail(request: string): Fault;
  listKeys(prefix?: string): Promise<string[]>;
  /** The number of uploads of parts that were not completed. */
  countUploads(): Promise<number>;
  read(key: string): Promise<Buffer>;
  write(key: string, content: Uint8Array): Promise<void>;
  /** To the credentials file. */
  writeCredentials(key: typeof KEY): void;
}

/** Starts a server in `directory` and resolves with its address. */
export type StartS3 = (directory: string) => Promise<{ url: string; close(): Promise<void> }>;

const load = createRequire(import.meta.url);

/** The path of a bucket ends in a slash, with which clients sign it; the server computes the signature without. */
function correctSignatures(): void {
  const signature = load('@20minutes/s3rver/lib/signature/v4');
  const { getStringToSign: getText } = signature;
  if (getText.isCorrected) return;
  const getCorrected = (request: { uri: string }, ...rest: unknown[]) =>
    getText({ ...request, uri: request.uri.replace(/^\/[^/]+$/, '$&/') }, ...rest);
  signature.getStringToSign = Object.assign(getCorrected, { isCorrected: true });
}

/** Runs in the test process, and verifies the signature of each request. */
const startS3rver: StartS3 = async (directory) => {
  correctSignatures();
  const S3rver = load('@20minutes/s3rver');
  const server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, vhostBuckets: false });
  const { port } = (await server.run()) as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
};

/** Starts one for all tests of the surrounding `describe`. Use it inside tests and hooks only. */
export function useS3(start: StartS3 = startS3rver): TestS3 {
  let upstream = '';
  let close = async () => {};
  let client: S3Client;
  const s3: TestS3 = {
    endpoint: '',
    credentialsFile: '',
    directory: '',
    requests: [],
    fail: () => undefined,
    async listKeys(Prefix = '') {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix }));
      return Contents.map(({ Key = '' }) => Key).sort();
    },
    async countUploads() {
      return (await client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }))).Uploads?.length ?? 0;
    },
    async read(Key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
    async write(Key, Body) {
      await client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body }));
    },
    writeCredentials: ({ id, secret }) =>
      writeFileSync(
        s3.credentialsFile,
        `[other]\naws_access_key_id = x\n[default]\naws_access_key_id = ${id}\naws_secret_access_key=${secret}\n`,
      ),
  };
  const proxy = createServer((incoming, outgoing) => {
    const name = `${incoming.method} ${incoming.url}`;
    s3.requests.push(name);
    const fault = s3.fail(name);
    if (fault === 'hang') return;
    if (fault === 'lost') return void incoming.socket.destroy();
    if (fault !== undefined) return void refuse(incoming, outgoing, fault);
    forward(incoming, outgoing, upstream);
  });
  beforeAll(async () => {
    s3.directory = mkdtempSync(join(tmpdir(), 'pilothouse-s3-'));
    s3.credentialsFile = join(s3.directory, 'credentials');
    s3.writeCredentials(KEY);
    const started = await start(join(s3.directory, 'objects'));
    upstream = started.url;
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    s3.endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    client = new S3Client({
      endpoint: upstream,
      forcePathStyle: true,
      region: 'us-east-1',
      credentials: { accessKeyId: KEY.id, secretAccessKey: KEY.secret },
      requestChecksumCalculation: 'WHEN_REQUIRED',
    });
    await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
    close = started.close;
  });
  afterAll(async () => {
    client?.destroy();
    proxy.closeAllConnections();
    proxy.close();
    await close();
    rmSync(s3.directory, { recursive: true, force: true });
  });
  return s3;
}

function refuse(incoming: IncomingMessage, outgoing: ServerResponse, fault: 'forbidden' | 'broken'): void {
  const [status, code] = fault === 'forbidden' ? [403, 'AccessDenied'] : [500, 'InternalError'];
  incoming.resume().on('end', () => {
    const body =
      incoming.method === 'HEAD' ? '' : `<Error><Code>${code}</Code><Message>${KEY.secret}</Message></Error>`;
    outgoing.writeHead(status as number, { 'content-type': 'application/xml' }).end(body);
  });
}

/** With the same headers: the signature covers the name of the host. */
function forward(incoming: IncomingMessage, outgoing: ServerResponse, upstream: string): void {
  const { method, url = '/', headers } = incoming;
  const { hostname, port } = new URL(upstream);
  const sent = request({ hostname, port, method, path: url, headers }, (response) => {
    outgoing.writeHead(response.statusCode ?? 500, response.headers);
    response.pipe(outgoing);
  });
  sent.on('error', () => outgoing.destroy());
  incoming.pipe(sent);
}
