// The baseline for writes: durable commits of one row, one after the other, on the same file system.
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import Database from 'libsql';

export function openCommitLoop(directory) {
  const database = new Database(join(directory, 'baseline.db'));
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec('CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, value TEXT NOT NULL)');
  const text = 'x'.repeat(2000);
  const insert = database.prepare('INSERT OR REPLACE INTO rows (id, value) VALUES (?, ?)');
  let count = 0;
  return {
    /** Returns the duration of each commit in ms. */
    runFor(ms) {
      const latencies = [];
      const endAt = performance.now() + ms;
      for (let before = performance.now(); before < endAt; ) {
        insert.run(count++ % 1000, text);
        const now = performance.now();
        latencies.push(now - before);
        before = now;
      }
      return latencies;
    },
    close: () => database.close(),
  };
}
