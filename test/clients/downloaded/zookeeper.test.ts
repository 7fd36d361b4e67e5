import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listMigrations } from '../../../src/kernel/migration.ts';
import { createClusterStatements } from '../../../src/platform/engine/cluster/cluster-statements.ts';
import { findFreePort, type Listener } from '../../../src/platform/listener/listener.ts';
import { CLUSTER, runOnServer, startClusterServer } from '../../support/clickhouse-cluster.ts';
import { until } from '../../support/until.ts';
import { describeClient, installFromMaven } from '../install.ts';

const ZOOKEEPER = 'org.apache.zookeeper:zookeeper:3.9.3';
/** What its server needs at run time. */
const NEEDED = [
  'org.apache.zookeeper:zookeeper-jute:3.9.3',
  'org.slf4j:slf4j-api:1.7.30',
  'io.dropwizard.metrics:metrics-core:4.1.12.1',
  'org.xerial.snappy:snappy-java:1.1.10.5',
];
const REPLICAS = 2;
const TIMEOUT_MS = 300_000;

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

// The library creates Replicated tables, but they stay read-only: it has no port for other replicas. So this tests that
// ClickHouse and ZooKeeper accept the definitions, and that the replicas of a shard agree on them.
describeClient(
  ZOOKEEPER,
  () => [ZOOKEEPER, ...NEEDED].map((artifact) => join(installFromMaven(artifact), '*')).join(':'),
  (classPath) => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-zookeeper-'));
    const replicas: Listener[] = [];
    let zookeeper: ChildProcess;

    beforeAll(async () => {
      const port = await findFreePort();
      const file = join(directory, 'zoo.cfg');
      writeFileSync(
        file,
        `dataDir=${join(directory, 'zookeeper')}\nclientPort=${port}\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n`,
      );
      const main = 'org.apache.zookeeper.server.ZooKeeperServerMain';
      zookeeper = spawn('java', ['-Xmx128m', '-cp', classPath, main, file], { stdio: 'ignore' });
      await until(
        () => answers(port),
        (isOpen) => isOpen,
        'ZooKeeper does not answer',
      );
      for (let index = 1; index <= REPLICAS; index++)
        replicas.push(
          await startClusterServer(join(directory, `replica${index}`), await findFreePort(), {
            macros: { shard: '1', replica: `r${index}` },
            zookeeper: { node: { host: '127.0.0.1', port } },
            remote_servers: { [CLUSTER]: { shard: { replica: { host: '127.0.0.1', port: 9000 } } } },
          }),
        );
    }, TIMEOUT_MS);
    afterAll(async () => {
      for (const { kill, ended } of replicas) {
        kill();
        await ended;
      }
      zookeeper?.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    });

    it('all replicas of a shard accept the tables', { timeout: TIMEOUT_MS }, async () => {
      const statements = [
        'CREATE DATABASE IF NOT EXISTS pilothouse',
        ...listMigrations('engine').flatMap((migration) => migration.statements),
      ]
        .flatMap(createClusterStatements(CLUSTER))
        .filter((statement) => statement.startsWith('CREATE '))
        .map((statement) => statement.replace(` ON CLUSTER '${CLUSTER}'`, ''));
      for (const replica of replicas) for (const statement of statements) await runOnServer(replica, statement);
      const tables = statements.filter((statement) => statement.includes('ENGINE = Replicated')).length;
      for (const [index, replica] of replicas.entries()) {
        const sql = 'SELECT count(), min(total_replicas), max(total_replicas), any(replica_name) FROM system.replicas';
        expect((await runOnServer(replica, sql)).trim()).toBe([tables, REPLICAS, REPLICAS, `r${index + 1}`].join('\t'));
      }
    });
  },
);
