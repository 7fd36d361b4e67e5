import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { Answer, RunningService } from './running-service.ts';
import { until } from './until.ts';

const WRITERS = 3;
const READERS = 2;

interface Options {
  /** What to do after an insert without an acknowledgment: send the row again if it is not stored, or go on. */
  onFailure?: 'repeat' | 'continue';
}

/** Clients that insert rows with unique ids, and clients that count them, until `stop`. */
export async function startRowLoad(service: RunningService, { onFailure }: Options = {}) {
  const acknowledged = new Set<number>();
  const failures: string[] = [];
  let sent = 0;
  let isStopping = false;
  let isPaused = false;
  let resting = 0;
  const run = (sql: string): Promise<Answer> =>
    service
      .query(sql)
      .catch((error: Error) => ({ status: 0, text: `${error.message}: ${(error.cause as Error)?.message}` }));

  onTestFinished(() => {
    isStopping = true;
  });
  const created = await run('CREATE TABLE load (id UInt64) ENGINE = MergeTree ORDER BY id');
  expect(created.text).toBe('');

  async function write(): Promise<void> {
    while (!isStopping) {
      const id = sent++;
      const { status, text } = await insert(id);
      if (status !== 200) failures.push(`insert: ${status} ${text}`);
      if (status === 200 || (onFailure === 'repeat' && (await repeat(id)))) acknowledged.add(id);
      await rest();
    }
  }

  const insert = (id: number): Promise<Answer> => run(`INSERT INTO load VALUES (${id})`);

  /**
   * Inserts a row that may be stored already. ClickHouse's own deduplication cannot be used here: a table without
   * replicas notes the token before the row, so after a kill between the two it ignores the repeated insert.
   */
  async function repeat(id: number): Promise<boolean> {
    while (!isStopping) {
      await delay(20);
      const { status, text } = await run(`SELECT count() FROM load WHERE id = ${id}`);
      if (status === 200 && (text === '1' || (await insert(id)).status === 200)) return true;
    }
    return false;
  }

  async function read(): Promise<void> {
    while (!isStopping) {
      const atLeast = acknowledged.size;
      const { status, text } = await run('SELECT count(), uniqExact(id) FROM load');
      const [count, unique] = text.split('\t').map(Number);
      if (status !== 200) failures.push(`select: ${status} ${text}`);
      else if (count !== unique || count === undefined || count < atLeast)
        failures.push(`${count} rows, ${unique} of them different, after ${atLeast} were acknowledged`);
      await rest();
    }
  }

  /** Between two queries of a client. */
  async function rest(): Promise<void> {
    resting++;
    while (isPaused && !isStopping) await delay(5);
    resting--;
  }

  const clients = [...Array.from({ length: WRITERS }, () => write()), ...Array.from({ length: READERS }, () => read())];

  return {
    failures,
    countAcknowledged: () => acknowledged.size,

    /** Resolves when no query is running. */
    async pause(): Promise<void> {
      isPaused = true;
      await until(
        async () => resting,
        (count) => count === clients.length,
        'the clients do not pause',
      );
    },
    resume(): void {
      isPaused = false;
    },

    /** Ends the clients after their current query. */
    async stop(): Promise<void> {
      isStopping = true;
      await Promise.all(clients);
    },

    /** Every acknowledged row is stored, none is stored twice, and none was made up. */
    async verify(): Promise<void> {
      const { status, text } = await service.query('SELECT id FROM load ORDER BY id FORMAT TSV');
      expect(status, text).toBe(200);
      const stored = text === '' ? [] : text.split('\n').map(Number);
      const found = new Set(stored);
      expect(found.size, 'rows are stored twice').toBe(stored.length);
      expect([...acknowledged].filter((id) => !found.has(id))).toEqual([]);
      expect(stored.filter((id) => id >= sent)).toEqual([]);
    },
  };
}
