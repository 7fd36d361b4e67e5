// Searches, histograms, facets, a trace and the live tail over many stored rows, compared with hand-written queries.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { openEngine } from './baseline-engine.mjs';
import { benchFleet, organizationId } from './fleet.mjs';
import { createRequest } from './otlp-messages.mjs';
import { bearer, directory, figureRow, formatThousands, median, startServer } from './tools.mjs';

const ROWS = Number(process.env.BENCH_SEARCH_ROWS ?? 20_000_000);
/** A longer request would time out. */
const ROWS_PER_INSERT = 1_000_000;
const ROUNDS = Number(process.env.BENCH_SEARCH_ROUNDS ?? 7);
/** The rows are generated once and kept for the next run. */
const KEPT = process.env.BENCH_SEARCH_DIRECTORY ?? join(tmpdir(), 'pilothouse-bench-search');
const ENGINE_BYTES = 8 * 2 ** 30;
/** Has the memory of statements. */
const QUERY_LOG = '<query_log><database>system</database><table>query_log</table></query_log>';
const MAX_FACET_BYTES = 100_000_000;
const DAY_MS = 86_400_000;
const DAYS = 29;
/** A bucket of the histogram. */
const SHIFT_MS = 15 * 60_000;
const TRACE_SPANS = 200;
const WATCHERS = 20;
const TAIL_ROWS_PER_SECOND = 5000;
const TAIL_SECONDS = 20;
const INGEST_TOKEN = 'bench-ingest-token';
/** A token has at most 10 live tails. */
const WATCHER_TOKENS = ['bench-watcher-1', 'bench-watcher-2'];

/** Deterministic rows of one organization over the last days: 20 services, 5,000 words, a needle per million rows. */
function logsQuery(endMs, numbers) {
  const step = Math.floor((DAYS * DAY_MS * 1000) / ROWS);
  return `SELECT '${organizationId}' AS OrganizationId,
    fromUnixTimestamp64Micro(toInt64(${endMs - DAYS * DAY_MS}) * 1000 + toInt64(number) * ${step}) AS Timestamp,
    lower(hex(sipHash128(intDiv(number, 20)))) AS TraceId, lower(hex(sipHash64(number))) AS SpanId,
    ['INFO', 'INFO', 'INFO', 'INFO', 'WARN', 'ERROR', 'DEBUG', 'INFO'][1 + sipHash64(number, 1) % 8] AS SeverityText,
    concat('service-', toString(sipHash64(number, 2) % 20)) AS ServiceName,
    concat(arrayStringConcat(arrayMap(i -> concat('w', toString(toUInt32(pow(5000, (sipHash64(number, i, 3) % 10000) / 10000)))), range(10)), ' '),
      ' order ', toString(number), ' took ', toString(sipHash64(number, 4) % 900), ' ms', if(number % 1000000 = 777, ' needle', '')) AS Body,
    map('host.name', concat('ip-10-0-3-', toString(sipHash64(number, 5) % 40)), 'k8s.namespace.name', 'shop') AS ResourceAttributes,
    map('http.request.method', if(number % 3 = 0, 'POST', 'GET'), 'http.route', concat('/api/', toString(sipHash64(number, 6) % 30), '/{id}'),
      'user.id', concat('user-', toString(sipHash64(number, 7) % 10000))) AS LogAttributes
    FROM ${numbers} SETTINGS max_threads = 2, max_block_size = 131072, max_insert_threads = 1`;
}

const spansQuery = (endMs, numbers) => `SELECT '${organizationId}' AS OrganizationId,
    fromUnixTimestamp64Micro(toInt64(${endMs - DAYS * DAY_MS}) * 1000 + toInt64(number) * ${Math.floor((DAYS * DAY_MS * 1000) / ROWS)}) AS Timestamp,
    lower(hex(sipHash128(intDiv(number, ${TRACE_SPANS}), 'trace'))) AS TraceId, lower(hex(sipHash64(number))) AS SpanId,
    concat('GET /api/', toString(sipHash64(number, 6) % 30)) AS SpanName, 'Server' AS SpanKind,
    concat('service-', toString(sipHash64(number, 2) % 20)) AS ServiceName,
    map('http.request.method', 'GET') AS SpanAttributes, sipHash64(number, 8) % 1000000000 AS Duration, 'Unset' AS StatusCode
    FROM ${numbers} SETTINGS max_threads = 2, max_block_size = 131072, max_insert_threads = 1`;

/** Of a trace in the middle of the range, another one in each round. */
const traceIdSql = (round) =>
  `lower(hex(sipHash128(toUInt64(${Math.floor(ROWS / 2 / TRACE_SPANS) + round}), 'trace')))`;

const insertInto = (table, query) => {
  const names = [...query.matchAll(/ AS ([A-Z]\w+)/g)].map(([, name]) => name);
  return `INSERT INTO pilothouse.${table} (${names.join(', ')}) ${query}`;
};

/** Returns the end of the generated range. */
async function generate(engine) {
  const marker = join(KEPT, 'rows.json');
  if (existsSync(marker)) {
    const { rows, endMs } = JSON.parse(readFileSync(marker, 'utf8'));
    if (rows === ROWS && Date.now() - endMs < DAY_MS) return endMs;
  }
  const endMs = Math.floor(Date.now() / 60_000) * 60_000;
  for (const table of ['otel_logs', 'otel_traces', 'otel_logs_values', 'otel_traces_values', 'otel_trace_times'])
    await engine.run(`TRUNCATE TABLE pilothouse.${table}`);
  for (let from = 0; from < ROWS; from += ROWS_PER_INSERT) {
    const numbers = `numbers(${from}, ${Math.min(ROWS_PER_INSERT, ROWS - from)})`;
    await engine.run(insertInto('otel_logs', logsQuery(endMs, numbers)));
    await engine.run(insertInto('otel_traces', spansQuery(endMs, numbers)));
    console.error(`${formatThousands(Math.min(from + ROWS_PER_INSERT, ROWS))} rows generated`);
  }
  while (Number(await engine.run('SELECT count() FROM system.merges')) > 0) await delay(1000);
  writeFileSync(marker, JSON.stringify({ rows: ROWS, endMs }));
  return endMs;
}

export async function searchRows() {
  mkdirSync(KEPT, { recursive: true });
  // The engine would not create it again beside the one of an earlier run.
  rmSync(join(KEPT, 'engine/data/data/system/query_log'), { recursive: true, force: true });
  const engine = await openEngine(join(KEPT, 'engine'), ENGINE_BYTES, QUERY_LOG);
  const fleetFile = join(directory, 'search.json');
  const fleet = benchFleet({ entities: 1, days: 0 });
  fleet.organizations[0].dashboardTokens.push(
    { name: 'ingest', token: INGEST_TOKEN, access: 'ingest' },
    ...WATCHER_TOKENS.map((token) => ({ name: token, token, access: 'read' })),
  );
  writeFileSync(fleetFile, JSON.stringify(fleet));
  const args = ['--fleet', fleetFile, '--rate-limit', 'off', '--log-level', 'error', '--telemetry', 'off'];
  const server = await startServer(join(directory, 'search'), [...args, '--clickhouse-url', engine.url]);
  // The server adds its indexes when it starts its engine, so rows are generated afterwards.
  await post('search', { sourceId: 'logs' });
  const endMs = await generate(engine);
  const last = (ms) => ({ startTime: new Date(endMs - ms).toISOString(), endTime: new Date(endMs).toISOString() });
  const month = last(DAYS * DAY_MS);
  const own = `OrganizationId = '${organizationId}'`;
  const since = (ms, round) => {
    const end = endMs - round * SHIFT_MS;
    return `Timestamp >= fromUnixTimestamp64Milli(${end - ms}) AND Timestamp < fromUnixTimestamp64Milli(${end})`;
  };
  const columns = 'Timestamp, ServiceName, SeverityText, Body';
  const newest = (condition, ms, round) =>
    `SELECT ${columns} FROM pilothouse.otel_logs WHERE ${own} AND ${since(ms, round)} AND ${condition} ORDER BY Timestamp DESC LIMIT 100 FORMAT JSONCompact`;

  async function post(path, body) {
    const response = await fetch(`${server.url}/api/v2/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: bearer, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`);
    return text;
  }

  /** Both in turn. Every round asks for another range, so that no cache of the server answers. */
  async function compare(ours, baseline) {
    const times = { ours: [], baseline: [] };
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [side, run] of Object.entries({ ours, ...(baseline && { baseline }) })) {
        const startedAt = performance.now();
        await run(round);
        // The first round warms up both sides.
        if (round > 0) times[side].push(performance.now() - startedAt);
      }
    }
    return times;
  }

  function toRow(name, { ours, baseline }, { maxMs, maxRatio }) {
    const ms = median(ours);
    const ratio = baseline.length > 0 ? median(ours.map((one, index) => one / baseline[index])) : undefined;
    const isMet = (maxMs === undefined || ms < maxMs) && (maxRatio === undefined || ratio <= maxRatio);
    const goals = [
      maxMs === undefined ? undefined : `< ${maxMs} ms`,
      maxRatio === undefined ? undefined : `≤ ${maxRatio} ×`,
    ];
    return {
      name,
      ours: `${ms.toFixed(0)} ms`,
      baseline: baseline.length > 0 ? `${median(baseline).toFixed(0)} ms, hand-written` : '',
      ratio: ratio?.toFixed(2) ?? '',
      goal: goals.filter((goal) => goal !== undefined).join(', '),
      isMet,
    };
  }

  /** Another end too: the first windows of a search and the buckets of a histogram depend on it. */
  const shifted = ({ startTime, endTime }, round) => {
    const shift = (time) => new Date(Date.parse(time) - round * SHIFT_MS).toISOString();
    return { startTime: shift(startTime), endTime: shift(endTime) };
  };
  const pair = 'ServiceName:"service-3" SeverityText:"ERROR"';
  const pairSql = "ServiceName = 'service-3' AND SeverityText = 'ERROR'";
  const rows = [
    toRow(
      'first rows of a word that occurs once per million rows, 29 days',
      await compare(
        (round) => post('search', { sourceId: 'logs', ...shifted(month, round), where: 'needle' }),
        (round) => engine.run(newest("hasToken(lower(Body), 'needle')", DAYS * DAY_MS, round)),
      ),
      { maxMs: 500, maxRatio: 1.3 },
    ),
    toRow(
      'first 100 rows of a service and a severity, 29 days',
      await compare(
        (round) => post('search', { sourceId: 'logs', ...shifted(month, round), where: pair }),
        (round) => engine.run(newest(pairSql, 6 * 3_600_000, round)),
      ),
      { maxMs: 300 },
    ),
    toRow(
      'histogram of the same, 24 hours',
      await compare(
        (round) =>
          post('search/histogram', {
            sourceId: 'logs',
            ...shifted(last(DAY_MS), round),
            where: pair,
            granularity: '15m',
          }),
        (round) =>
          engine.run(
            `SELECT toStartOfInterval(Timestamp, INTERVAL 15 MINUTE) AS t, SeverityText, count() FROM pilothouse.otel_logs WHERE ${own} AND ${since(DAY_MS, round)} AND ${pairSql} GROUP BY 1, 2 ORDER BY 1 FORMAT JSONCompact`,
          ),
      ),
      { maxRatio: 1.15 },
    ),
    toRow(
      'values of an attribute with counts, 29 days',
      await compare((round) =>
        post('search/facets/values', {
          sourceId: 'logs',
          ...shifted(month, round),
          fields: ["LogAttributes['http.route']"],
        }),
      ),
      { maxMs: 300 },
    ),
  ];
  await engine.run('SYSTEM FLUSH LOGS');
  const facetBytes = Number(
    await engine.run(
      "SELECT max(memory_usage) FROM system.query_log WHERE query LIKE '%approx_top_sum%' AND query NOT LIKE '%query_log%' AND event_time > now() - 3600",
    ),
  );
  rows.push(
    figureRow(
      'memory of its statement',
      `${Math.round(facetBytes / 1e6)} MB`,
      `< ${MAX_FACET_BYTES / 1e6} MB`,
      facetBytes > 0 && facetBytes < MAX_FACET_BYTES,
    ),
  );
  const traceIds = [];
  for (let round = 0; round <= ROUNDS; round++) traceIds.push((await engine.run(`SELECT ${traceIdSql(round)}`)).trim());
  rows.push(
    toRow(
      `a trace of ${TRACE_SPANS} spans among ${formatThousands(ROWS)}`,
      await compare((round) => post(`traces/${traceIds[round]}`)),
      {
        maxMs: 200,
      },
    ),
  );
  rows.push(...(await tailRows(server)));
  await server.stop();
  await engine.close();
  rmSync(join(KEPT, 'engine', 'configuration'), { recursive: true, force: true });
  return rows;
}

const readCpuSeconds = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

/** Rows arrive; every watcher waits for one word that few of them have. */
async function tailRows(server) {
  const controller = new AbortController();
  const delays = [];
  const sent = new Map();
  const watchers = Array.from({ length: WATCHERS }, async (_, index) => {
    const response = await fetch(`${server.url}/api/v2/search/tail`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${WATCHER_TOKENS[index % WATCHER_TOKENS.length]}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ sourceId: 'logs', where: `ServiceName:"tail-${index % 8}"`, select: 'Body' }),
      signal: controller.signal,
    });
    if (!response.ok) throw new Error(await response.text());
    let text = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (const [, mark] of text.matchAll(/mark-(\d+)/g)) {
        const at = sent.get(mark);
        if (at !== undefined) delays.push(performance.now() - at);
      }
      text = text.slice(-20);
    }
  });
  await delay(2000);
  const cpuBefore = readCpuSeconds(server.pid);
  const startedAt = performance.now();
  const RECORDS = 500;
  const headers = { authorization: INGEST_TOKEN, 'content-type': 'application/x-protobuf' };
  for (let second = 0; second < TAIL_SECONDS; second++) {
    for (let batch = 0; batch < TAIL_ROWS_PER_SECOND / RECORDS; batch++) {
      const body = createRequest('logs', 'protobuf', batch, (second * 10 + batch) * RECORDS, RECORDS);
      void fetch(`${server.url}/v1/logs`, { method: 'POST', headers, body });
    }
    const mark = String(second);
    const record = { timeUnixNano: `${Date.now()}000000`, body: { stringValue: `mark-${mark} ` } };
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: `tail-${second % 8}` } }] };
    await fetch(`${server.url}/v1/logs`, {
      method: 'POST',
      headers: { authorization: INGEST_TOKEN, 'content-type': 'application/json' },
      body: JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords: [record] }] }] }),
    });
    sent.set(mark, performance.now());
    await delay(Math.max(0, startedAt + (second + 1) * 1000 - performance.now()));
  }
  const cpu = (readCpuSeconds(server.pid) - cpuBefore) / ((performance.now() - startedAt) / 1000);
  await delay(3000);
  controller.abort();
  const failure = (await Promise.allSettled(watchers)).find(({ reason }) => reason?.name !== 'AbortError');
  if (failure) throw failure.reason;
  const worst = Math.max(...delays);
  return [
    figureRow(
      `live tail, ${formatThousands(TAIL_ROWS_PER_SECOND)} rows/s and ${WATCHERS} watchers: longest delay after acceptance (${delays.length} rows)`,
      `${Math.round(worst)} ms`,
      '< 2000 ms',
      worst < 2000,
    ),
    figureRow('processor of the server meanwhile, ingest included', `${Math.round(cpu * 100)} %`, '< 30 %', cpu < 0.3),
  ];
}
