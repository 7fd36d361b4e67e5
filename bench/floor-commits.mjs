// The floor for writes: durable commits of one row, one after the other, on the same file system, with nothing around them.
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import Database from 'libsql';

const [directory, seconds] = [process.argv[2], Number(process.argv[3])];
const database = new Database(join(directory, 'floor.db'));
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec('CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, value TEXT NOT NULL)');
const text = 'x'.repeat(2000);
const insert = database.prepare('INSERT OR REPLACE INTO rows (id, value) VALUES (?, ?)');

const startedAt = performance.now();
let count = 0;
while (performance.now() - startedAt < seconds * 1000) insert.run(count++ % 1000, text);
console.log(JSON.stringify({ perSecond: count / ((performance.now() - startedAt) / 1000) }));
