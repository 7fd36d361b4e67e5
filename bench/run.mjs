// npm run bench [part]: the built server beside its floors, in the same run. Ratios are what counts; the machine is noisy.
import { rmSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { consoleRows } from './console.mjs';
import { exportRows, largeRows } from './costs.mjs';
import { benchFleet } from './fleet.mjs';
import { requestRows } from './requests.mjs';
import { tileRows } from './tiles.mjs';
import { directory, measured, residentMb, SLICE_MS, SLICES, startServer } from './tools.mjs';
import { intakeRows, ratingRows } from './usage.mjs';

const here = import.meta.dirname;
/** A part by its name, or the requests whose row has it in its name. */
const only = process.argv[2];

async function main() {
  const fleetFile = join(directory, 'fleet.json');
  writeFileSync(fleetFile, JSON.stringify(benchFleet({ entities: 20, days: 31 })));
  const parts = {
    start: startRows,
    large: largeRows,
    export: exportRows,
    tiles: () => tileRows(fleetFile),
    intake: intakeRows,
    rating: ratingRows,
    console: consoleRows,
  };
  const isRequest = only && !(only in parts);
  const rows = [];
  for (const [name, measure] of Object.entries(parts)) {
    if (!only || only === name) rows.push(...(await measure()));
    if (name === 'start' && (!only || isRequest))
      rows.push(...(await requestRows(fleetFile, (row) => !only || row.includes(only))));
  }
  const table = render(rows);
  console.log(table);
  if (!only) writeFileSync(join(here, 'README.md'), readme(table));
}

/** What a first start takes. */
async function startRows() {
  const server = await startServer(join(directory, 'empty'), []);
  await delay(1500);
  const idleMb = residentMb(server.pid);
  await server.stop();
  const { readyMs } = server;
  return [
    measured(
      'first `serve` on an empty directory, ready after',
      `${Math.round(readyMs)} ms`,
      '< 1,500 ms',
      readyMs < 1500,
    ),
    measured('idle memory of that server', `${idleMb} MB`, '< 120 MB', idleMb < 120),
  ];
}

function render(rows) {
  const lines = rows.map(
    ({ name, ours, floor, ratio, goal, isReached }) =>
      `| ${name} | ${ours} | ${floor} | ${ratio} | ${goal} | ${isReached ? 'yes' : '**no**'} |`,
  );
  return ['| what | Pilothouse | floor | ratio | goal | reached |', '|---|---|---|---|---|---|', ...lines].join('\n');
}

function readme(table) {
  const [cpu] = cpus();
  return `# Measurements

Written by \`npm run bench\`. The server and its floor run in the same minute on the same machine, loaded from a process of
their own (64 connections for reads, 32 for changes). The two are loaded in turn, ${SLICES} times ${SLICE_MS} ms each, and the ratio is the median of
the ratios of the turns: a slow moment of the machine slows both. Read the ratios; the absolute figures are medians on one noisy machine
(${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}).

${table}

- The floor for reads is a bare \`node:http\` server that answers the same headers and bytes without looking at the request.
- The floor for changes is a bare loop of durable commits of one 2 KB row (libSQL, WAL, \`synchronous=FULL\`). Each change here is
  a row and its audit entry, in one commit that may carry the changes of other requests too. Syncing is nearly free on this machine; what that means for
  the ratio, and what it is where syncing takes time, is in [group-commit.md](../docs/decisions/group-commit.md).
- The floor for tiles is hand-written SQL, sent straight to the same engine: one process, asked by hand and through the server in turn. The engine is
  one that the server reaches by URL. With the server's own engine beside another process of the same program, each started anew, the same tiles took
  1.18, 1.28 and 1.00 times as long in one run.
- The floor for usage is the embedded engine alone, with the same tables (fsync after each insert) and the same rows as JSON
  lines. Rating is what a running server does, with everything it writes: every entry of three days changes, and a third of the time
  counts. Its floor is the bare statement for each day, on the same engine, which the server reaches by URL.
- The console is measured in the system's Chromium without a screen or a graphics card, each time in a browser of its own with an empty
  cache. Ready: everything of the page is shown and no task of more than 50 ms follows within a second.
- Nothing is switched off: authentication, rate limits, audit, metrics and one log line per request are part of what is measured.
`;
}

try {
  await main();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
