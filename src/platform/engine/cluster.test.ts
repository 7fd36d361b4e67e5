import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CLUSTER, type ClickHouseCluster, startClickHouseCluster } from '../../../test/support/clickhouse-cluster.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import type { Engine } from './engine.ts';
import { openEngine } from './open.ts';

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-cluster-'));
const log = { debug() {}, info() {}, warn: console.warn };
let cluster: ClickHouseCluster;

beforeAll(async () => {
  cluster = await startClickHouseCluster(directory);
}, 300_000);
afterAll(async () => {
  await cluster?.close();
  rmSync(directory, { recursive: true, force: true });
});

async function withEngine<T>(work: (engine: Engine) => Promise<T>, retentionDays?: number, name = CLUSTER): Promise<T> {
  const engine = openEngine({
    dataDirectory: directory,
    clickhouseUrl: cluster.url,
    clickhouseCluster: name,
    clock: systemClock,
    log,
    retentionDays,
  });
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

it('tables are created', async () => {
  await withEngine((engine) => engine.start());
  console.log(await cluster.query(0, "SELECT name, engine FROM system.tables WHERE database='pilothouse'"));
  console.log(await cluster.query(1, "SELECT count() FROM system.tables WHERE database='pilothouse'"));
}, 120_000);
