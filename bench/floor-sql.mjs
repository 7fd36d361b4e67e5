// The floor for tiles: hand-written SQL, straight to the same engine on the same data, with nothing around it.
//   node floor-sql.mjs DIRECTORY < [{"sql": …, "times": n}]   → seconds of each run, as JSON
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { Session } from 'chdb';

const session = new Session(process.argv[2]);
const jobs = JSON.parse(readFileSync(0, 'utf8'));
const results = [];
for (const { statements } of jobs) {
  const seconds = [];
  for (const sql of statements) {
    const startedAt = performance.now();
    const result = await session.queryAsync(sql, { format: 'JSONCompact' });
    if (!sql.startsWith('INSERT')) JSON.parse(result.text());
    seconds.push((performance.now() - startedAt) / 1000);
  }
  results.push(seconds);
}
console.log(JSON.stringify(results));
session.close();
