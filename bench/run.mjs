// npm run bench [part]: measures the built server and its baselines in the same run. Compare ratios: absolute figures are noisy.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { alertRows } from './alerts.mjs';
import { autoscaleRows } from './autoscale.mjs';
import { backupRows } from './backups.mjs';
import { clusterRows } from './cluster.mjs';
import { consoleRows } from './console.mjs';
import { exportRows, largeRows } from './costs.mjs';
import { benchFleet } from './fleet.mjs';
import { describeGrowth, growthRows } from './growth.mjs';
import { listRows } from './lists.mjs';
import { nodeRows } from './nodes.mjs';
import { otlpRows } from './otlp.mjs';
import { postgresRows } from './postgres.mjs';
import { measureStores, nameStore } from './postgres-server.mjs';
import { requestRows } from './requests.mjs';
import { searchRows } from './search.mjs';
import { searchPageRows } from './search-pages.mjs';
import { servicesRows } from './services.mjs';
import { soakRows } from './soak.mjs';
import { sqlRows } from './sql.mjs';
import { tileRows } from './tiles.mjs';
import { directory, figureRow, residentMb, SLICE_MS, SLICES, startServer } from './tools.mjs';
import { intakeRows, ratingRows } from './usage.mjs';
import { workerRows } from './workers.mjs';

const here = import.meta.dirname;
/** The name of a part, or text in the row names of request benchmarks. */
const only = process.argv[2];

async function main() {
  const fleetFile = join(directory, 'fleet.json');
  writeFileSync(fleetFile, JSON.stringify(benchFleet({ entities: 20, days: 31 })));
  const parts = {
    start: () => measureStores(startRows),
    large: largeRows,
    export: exportRows,
    postgres: postgresRows,
    tiles: () => tileRows(fleetFile),
    intake: intakeRows,
    rating: ratingRows,
    autoscale: autoscaleRows,
    console: consoleRows,
  };
  const section = getSections()[only];
  if (section) return measureSection(...section);
  if (only === 'soak') return console.log(renderTable(await soakRows()));
  if (only === 'services') return measureServices(process.argv[3]);
  const isRequest = only && !(only in parts);
  const rows = [];
  for (const [name, measure] of Object.entries(parts)) {
    if (!only || only === name) rows.push(...(await measure()));
    if (name === 'start' && (!only || isRequest))
      rows.push(...(await requestRows(fleetFile, (row) => !only || row.includes(only))));
  }
  const table = renderTable(rows);
  console.log(table);
  if (!only) writeFileSync(readme, [renderReadme(table), ...readSections().slice(1)].join('\n'));
}

const readme = join(here, 'README.md');

/** The README before its first section, and its sections, which a full run keeps. */
const readSections = () => readFileSync(readme, 'utf8').split(/\n(?=## )/);

/** Prints the table and writes it to its section of the README. */
function writeSection(title, about, table) {
  console.log(table);
  const [start, ...sections] = readSections();
  const load = loadavg().map((value) => value.toFixed(0));
  const section = `## ${title}

${about} The load average of the machine at the end was ${load.join(', ')} (1, 5 and 15 minutes); above ${cpus().length}, absolute times are longer
than on an idle machine.

${table}
`;
  const index = sections.findIndex((text) => text.startsWith(`## ${title}\n`));
  sections.splice(index < 0 ? sections.length : index, 1, section);
  writeFileSync(readme, [start, ...sections].join('\n'));
}

/** Too long for a full run: each part has a section of the README. */
const getSections = () => ({
  nodes: ['Several nodes', NODES, nodeRows],
  workers: ['Several processes', WORKERS, workerRows],
  growth: ['Growth', describeGrowth(), growthRows],
  lists: ['Lists', LISTS, listRows],
  otlp: ['OpenTelemetry', OTLP, otlpRows],
  search: ['Search', SEARCH, async () => [...(await searchRows()), ...(await searchPageRows())]],
  sql: ['SQL', SQL, sqlRows],
  alerts: ['Alerts', ALERTS, alertRows],
  cluster: ['Cluster', CLUSTER, clusterRows],
  backups: ['Backups of services', BACKUPS, backupRows],
});

async function measureSection(title, about, measure) {
  writeSection(title, about, renderTable(await measure()));
}

const LISTS = `Written by \`npm run bench -- lists\`: pages of 100,000 services compared with pages of 1,000, read alternately, and fleet files of growing size.`;

const NODES = `Written by \`npm run bench -- nodes\`: three nodes behind HAProxy on one PostgreSQL and one ClickHouse server, with 10,000 services in one
organization, at 70 % of the capacity that was measured before. In the middle of the run the nodes are restarted one after the other.`;

const OTLP = `Written by \`npm run bench -- otlp\`: 16 senders with 512 records per request. The baseline inserts the same rows in the same format into
another engine, 8,192 at a time and two inserts at a time, without a server in between. Both are loaded alternately.`;

const SEARCH = `Written by \`npm run bench -- search\`: 20 million log rows and 20 million spans of 29 days (\`BENCH_SEARCH_ROWS\`), generated once and kept in the
temporary directory. Hand-written queries run on the same engine, in turn with the requests. The pages are those of the demo, in a new browser for each round.`;

const SQL = `Written by \`npm run bench -- sql\`: an embedded service. The baseline of a statement by role is the same statement and format at the endpoint of the service, which
it passes too; both are loaded alternately. Each statement by role is an activity and an entry of the history. The result is shown by the SQL page in Chromium, with a new browser for each round.`;

const ALERTS = `Written by \`npm run bench -- alerts\`: processor time, which depends less on what else the machine does than elapsed time. That of the idle
server and engine is subtracted. Each of the 500 alerts has a saved search of its own, so that none shares a query. 100 % is one core.`;

const CLUSTER = `Written by \`npm run bench -- cluster\`: the processor time of storing a row, of all threads and including the merges of the following
seconds, which depends less on what else the machine does than a rate. Two ClickHouse processes are the shards. *Directly* means that each shard gets its rows in an insert of its own.`;

const WORKERS = `Written by \`npm run bench -- workers\`: a server with two workers compared with one process, loaded alternately. Where the system
allows it, each process that serves requests gets a part of a processor only: otherwise the load and the database would need the second processor of
a small machine.`;

const BACKUPS = `Written by \`npm run bench -- backups\` (\`BENCH_BACKUP_MB\` is the size). The baseline is a ClickHouse process of the same kind without a control
plane: \`BACKUP\` to a file, and a start of the process with \`RESTORE\`. A backup of ours is also checksummed and synchronized to the disk; it is found
within a second, so small ones mostly wait. The native protocol is that of an embedded service, compared with such a process.`;

const SERVICES = `Written by \`npm run bench -- services\`. The baseline of a wake is a start of the service's program without a control plane, to its
first answer; both alternate. The query log of the service is truncated after each wake: ClickHouse keeps merged parts for 8 minutes, the bench wakes the service 100 times a minute,
and each part makes the next start about 1 ms longer. An idle service was created, ran and idled; the figure is the memory of a server that was started afterwards, compared
with a server without services. The baseline of the endpoint is the same ClickHouse process without the proxy. Client, proxy and ClickHouse share the processors: a TCP
relay in the place of the endpoint reached 0.90 to 0.92 (SELECT 1) and 0.93 (100 MB), a proxy of \`node:http\` that only forwards 0.72 to 0.80 and 0.74.`;

async function measureServices(part) {
  const table = renderTable(await servicesRows(part));
  if (part) console.log(table);
  else writeSection('Services', SERVICES, table);
}

/** Time and memory of a first start. Node returns the memory that the start needed to the system within a minute. */
async function startRows(store, createStore) {
  const server = await startServer(join(directory, `empty-${store}`), await createStore('empty'));
  await delay(1500);
  const startMb = residentMb(server.pid);
  await delay(60_000);
  const idleMb = residentMb(server.pid);
  await server.stop();
  const { readyMs } = server;
  return [
    figureRow(
      `first \`serve\` in an empty directory: time to ready${nameStore(store)}`,
      `${Math.round(readyMs)} ms`,
      '< 1,500 ms',
      readyMs < 1500,
    ),
    figureRow(`memory of the server right after the start${nameStore(store)}`, `${startMb} MB`, '', true),
    figureRow(`idle memory of the server, after a minute${nameStore(store)}`, `${idleMb} MB`, '< 120 MB', idleMb < 120),
  ];
}

function renderTable(rows) {
  const lines = rows.map(
    ({ name, ours, baseline, ratio, goal, isMet }) =>
      `| ${name} | ${ours} | ${baseline} | ${ratio} | ${goal} | ${isMet ? 'yes' : '**no**'} |`,
  );
  return ['| benchmark | Pilothouse | baseline | ratio | goal | met |', '|---|---|---|---|---|---|', ...lines].join(
    '\n',
  );
}

function renderReadme(table) {
  const [cpu] = cpus();
  return `# Benchmarks

Written by \`npm run bench\`. The server and a minimal baseline run at the same time on the same machine, with load from a separate
process (64 connections for reads, 32 for writes). They are loaded alternately, ${SLICES} times ${SLICE_MS} ms each, and the ratio is the median over
these pairs, so that a slow moment of the machine affects both. Compare the ratios; the absolute figures are medians from one noisy machine
(${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}).

${table}

- The baseline for reads is a minimal \`node:http\` server that sends the same headers and bytes for every request.
- The baseline for writes is a loop of durable commits of one 2 KB row (libSQL, WAL, \`synchronous=FULL\`). Each write to the server changes
  a row and adds an audit log entry, in a commit that may include changes of other requests. fsync is nearly free on this machine; [group-commit.md](../docs/decisions/group-commit.md)
  explains the effect on the ratio, and has figures for disks where fsync takes time.
  On PostgreSQL, it is 32 connections that lock and write the same service and add a row, each in a transaction.
- The baseline for tiles is hand-written SQL, sent directly to the same engine process, alternating with requests to the server. The server uses
  that engine by URL. With two separate engine processes, one embedded in the server and one for the baseline, the same tiles took
  1.18, 1.28 and 1.00 times as long in one run.
- The baseline for usage is the embedded engine alone, with the same tables (fsync after each insert) and the same rows as JSON
  lines. Rating is measured on a running server, including all writes: every entry of three days changes, and the figure is a third of
  the time. Its baseline is the aggregation query for each day on the same engine, which the server uses by URL.
- The console is measured in the system's Chromium, headless and without a GPU, in a new browser with an empty cache for each
  measurement. Ready: the page is completely rendered and no task longer than 50 ms follows within a second.
- A GET of a service reads, parses and formats its row: rows are not kept in memory, because each commit would empty such a cache ([state](../src/platform/state/README.md)).
  The build with the ratio 0.39 kept rows parsed and formatted, which helped only while few services were read and nothing was written. A request took 85 µs of processor time there and takes
  152 µs now (alternating): 13 % are the read, 16 to 18 % parsing and formatting, 13 % the write to the socket. On PostgreSQL, reads of the same row that arrive together are
  one statement, and this row reads one service; *of 32 services* is closer to real use.
- A PATCH on libSQL took 199 µs of processor time in the build with the ratio 0.48 and takes 353 µs now; POST keys took 253 µs (ratio 0.36) and takes 443 µs. Rows are no longer kept in memory, and each change
  updates the head of the hash chain of the audit log: 8 to 15 % of a PATCH, 4 to 6 % of a key. A PATCH runs four statements, which take 29 % of its time. The rest is spread: roles of keys in rows of their own, names for sorting,
  generations.
- Nothing is disabled: authentication, rate limits, the audit log, metrics and one log line per request are included.
`;
}

try {
  await main();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
