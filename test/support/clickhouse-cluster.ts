import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect } from 'vitest';
import { READER_GRANTS } from '../../src/platform/engine/backends/configuration.ts';
import type { Elements, User } from '../../src/platform/listener/configuration.ts';
import { findInstallation } from '../../src/platform/listener/installation.ts';
import { findFreePort, type Listener, startListener, withUser } from '../../src/platform/listener/listener.ts';
import { query } from '../../src/platform/listener/query.ts';
import { PASSWORDS } from './clickhouse-server.ts';

const MEBIBYTE = 2 ** 20;
const SHARDS = 2;
export const CLUSTER = 'main';

const USER = {
  name: 'writer',
  password: PASSWORDS.writer,
  grants: [
    'GRANT ALL ON pilothouse.*',
    'GRANT TABLE ENGINE ON *',
    'GRANT CLUSTER ON *.*',
    'GRANT REMOTE ON *.*',
    'GRANT CREATE TEMPORARY TABLE ON *.*',
    ...READER_GRANTS.filter((grant) => grant.includes('system.')),
    'GRANT SELECT ON system.clusters',
    'GRANT SELECT ON system.tables',
    'GRANT SELECT ON system.replicas',
  ],
  settings: { max_memory_usage: 300 * MEBIBYTE },
};

export interface ClickHouseCluster {
  /** For `--clickhouse-url`. */
  url: string;
  pids: number[];
  /** Of the HTTP interface of each shard. */
  ports: number[];
  /** Runs a statement on one shard, counted from 0. */
  query(shard: number, sql: string): Promise<string>;
  /** Statements that were sent to the whole cluster. */
  clusterStatements: string[];
  /** Ends the process of a shard at once. */
  stopShard(shard: number): Promise<void>;
  close(): Promise<void>;
}

interface ClusterUsers {
  /** Further rights of the user. */
  grants?: readonly string[];
  users?: readonly User[];
}

/** A ClickHouse process that accepts connections of other servers on `port`. */
export function startClusterServer(
  directory: string,
  port: number,
  server: Elements,
  { grants = [], users = [] }: ClusterUsers = {},
): Promise<Listener> {
  const installation = findInstallation();
  if ('obstacle' in installation) expect.fail(installation.obstacle);
  const data = join(directory, 'data');
  mkdirSync(data, { recursive: true });
  return startListener({
    ...installation,
    program: join(import.meta.dirname, 'clickhouse-shard.cjs'),
    folder: join(directory, 'configuration'),
    data,
    logFile: join(data, 'clickhouse.log'),
    memoryBytes: 700 * MEBIBYTE,
    users: [{ ...USER, grants: [...USER.grants, ...grants] }, ...users],
    server: { tcp_port: port, ...server },
    log: { debug() {} },
  });
}

export const runOnServer = ({ address }: Listener, sql: string): Promise<string> =>
  query(withUser(address, USER), sql, AbortSignal.timeout(60_000));

/**
 * Two shards with Distributed tables between them. The library has no server that replicates (it starts no port for
 * replicas and no worker for statements of a cluster), so this does both in its place: it sends a statement with ON CLUSTER to
 * each shard without it, and Replicated tables become tables without replicas.
 */
export async function startClickHouseCluster(
  directory: string,
  { server, ...users }: ClusterUsers & { server?: Elements } = {},
): Promise<ClickHouseCluster> {
  const ports = await Promise.all(Array.from({ length: SHARDS }, findFreePort));
  const shards = ports.map((port, index) => [
    `shard${index + 1}`,
    { internal_replication: 'true', replica: { host: '127.0.0.1', port } },
  ]);
  const listeners: Listener[] = [];
  for (const [index, port] of ports.entries())
    listeners.push(
      await startClusterServer(
        join(directory, `shard${index + 1}`),
        port,
        {
          macros: { shard: String(index + 1), replica: 'r1' },
          // With a secret, a query runs as the same user on all shards.
          remote_servers: { [CLUSTER]: { secret: 'of-the-cluster', ...Object.fromEntries(shards) } },
          ...server,
        },
        users,
      ),
    );
  const run = (shard: number, sql: string): Promise<string> => {
    const listener = listeners[shard];
    if (!listener) expect.fail(`no shard ${shard}`);
    return runOnServer(listener, sql);
  };
  const clusterStatements: string[] = [];
  // Parameters of queries are in the URL.
  const proxy = createServer({ maxHeaderSize: MEBIBYTE }, (incoming, response) => {
    forward(incoming, response, listeners, clusterStatements).catch((error: Error) => {
      response.writeHead(502).end(error.message);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://writer:${PASSWORDS.writer}@127.0.0.1:${port}`,
    pids: listeners.map(({ pid }) => pid),
    ports: listeners.map(({ address }) => address.port),
    query: run,
    clusterStatements,
    async stopShard(shard) {
      listeners[shard]?.kill();
      await listeners[shard]?.ended;
    },
    async close() {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
      for (const { kill, ended } of listeners) {
        kill();
        await ended;
      }
    },
  };
}

const ON_CLUSTER = ` ON CLUSTER '${CLUSTER}'`;
const REPLICATED = /Replicated(\w*MergeTree)\('[^']*', '\{replica\}'(?:, )?/;

async function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  listeners: readonly Listener[],
  clusterStatements: string[],
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const isForCluster = body.subarray(0, 300).includes(ON_CLUSTER);
  if (isForCluster) clusterStatements.push(body.toString());
  const sent = isForCluster ? Buffer.from(body.toString().replace(ON_CLUSTER, '').replace(REPLICATED, '$1(')) : body;
  const targets = isForCluster ? listeners : listeners.slice(0, 1);
  for (const [index, { address }] of targets.entries()) {
    const answer = await send(incoming, address.port, sent);
    const isLast = index === targets.length - 1;
    if (!isLast && answer.statusCode === 200) answer.resume();
    else {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      return;
    }
  }
}

function send({ method, url, headers }: IncomingMessage, port: number, body: Buffer): Promise<IncomingMessage> {
  const { 'transfer-encoding': _, ...rest } = headers;
  return new Promise((resolve, reject) => {
    request(
      { host: '127.0.0.1', port, method, path: url, headers: { ...rest, 'content-length': body.length } },
      resolve,
    )
      .on('error', reject)
      .end(body);
  });
}
