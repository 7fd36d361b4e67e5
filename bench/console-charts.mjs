// A large dashboard, compared with the same charts drawn by the library alone.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { openEngine } from './baseline-engine.mjs';
import { withPage } from './console-browser.mjs';
import { drawWithLibrary, scrollThrough, tileFigures, watchTiles } from './console-probes.mjs';
import { benchFleet, key, organizationId, token } from './fleet.mjs';
import { directory, figureRow, median, startServer } from './tools.mjs';

const ROUNDS = 5;
const TILES = 24;
const SERIES = 20;
const POINTS = 300;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Yesterday at midnight. */
const T0 = Math.floor(Date.now() / DAY - 1) * DAY;
const PIXELS_PER_SECOND = 800;
const PAGE = `/dashboards/charts?from=${T0}&to=${T0 + POINTS * MINUTE}&utc=true`;
const NAME = `${TILES} tiles of ${SERIES} series, ${POINTS} points each`;
/** Shows the whole dashboard without scrolling. */
const WHOLE_DASHBOARD = { width: 1920, height: 2300 };
const COLORS = ['#0b7285', '#d9480f', '#5f3dc4', '#2b8a3e'];

export async function chartRows() {
  const fleetFile = join(directory, 'charts.json');
  writeFileSync(fleetFile, JSON.stringify(createFleet()));
  const data = join(directory, 'charts');
  const start = () => startServer(data, ['--fleet', fleetFile, '--rate-limit', 'off', '--log-level', 'warn']);
  let server = await start();
  // The first query creates the tables.
  await fetch(`${server.url}/api/v2/dashboards/charts/tiles/tile-0/data`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await server.stop();
  const engine = await openEngine(join(data, 'engine'));
  await engine.run(FILL);
  await engine.close();
  server = await start();
  const expected = { tiles: TILES, series: SERIES, granularity: '1m' };
  try {
    const draw = (more) =>
      withPage({ ...server, credentials: key, viewport: WHOLE_DASHBOARD }, async (page) => {
        await page.addInitScript(watchTiles, { ...expected, ...more });
        await page.goto(server.url + PAGE);
        return page.evaluate(tileFigures);
      });
    const scroll = () =>
      withPage({ ...server, credentials: key }, async (page) => {
        await page.addInitScript(watchTiles, expected);
        await page.goto(server.url + PAGE);
        await page.locator('[data-tile="tile-0"] canvas').first().waitFor();
        const loading = await page.evaluate(scrollThrough, { pixelsPerSecond: PIXELS_PER_SECOND });
        const { maxInFlight } = await page.evaluate(tileFigures);
        await page.evaluate('scrollTo(0, 0)');
        const rendered = await page.evaluate(scrollThrough, { pixelsPerSecond: PIXELS_PER_SECOND });
        const height = await page.evaluate('document.documentElement.scrollHeight');
        return { loading, rendered, maxInFlight, baseline: await scrollTextPage(height) };
      });

    const first = await draw({});
    checkResponses(first.texts);
    const draws = [];
    const immediateDraws = [];
    const baselines = [];
    const scrolls = [];
    for (let round = 0; round < ROUNDS; round++) {
      draws.push(await draw({}));
      immediateDraws.push(await draw({ responses: first.texts }));
      baselines.push(await drawBaseline(Object.values(first.texts)));
      scrolls.push(await scroll());
    }
    const afterLast = median(draws.map(({ afterLastByteMs }) => afterLastByteMs));
    const ours = median(immediateDraws.map(({ afterFirstMs }) => afterFirstMs));
    const baseline = median(baselines);
    const maxInFlight = Math.max(...[...draws, ...scrolls].map((figures) => figures.maxInFlight));
    const textRate = median(scrolls.map((figures) => figures.baseline.perSecond));
    const scrollRow = (name, kind) => {
      const rate = median(scrolls.map((figures) => figures[kind].perSecond));
      const longest = Math.round(median(scrolls.map((figures) => figures[kind].longestMs)));
      return {
        name: `${NAME}: ${name}`,
        ours: `${rate.toFixed(0)} frames/s (longest ${longest} ms)`,
        baseline: `${textRate.toFixed(0)} frames/s, text-only page`,
        ratio: (rate / textRate).toFixed(2),
        goal: '≥ 50 frames/s',
        isMet: rate >= 50,
      };
    };
    return [
      figureRow(`${NAME}: rendered after the last byte`, `${Math.round(afterLast)} ms`, '< 1,500 ms', afterLast < 1500),
      {
        name: `${NAME}: rendered when all responses arrive at once`,
        ours: `${Math.round(ours)} ms`,
        baseline: `${Math.round(baseline)} ms, uPlot alone`,
        ratio: (ours / baseline).toFixed(2),
        goal: '< 1,500 ms',
        isMet: ours < 1500,
      },
      scrollRow('scrolling, all rendered', 'rendered'),
      scrollRow('scrolling while loading', 'loading'),
      figureRow(`${NAME}: concurrent queries`, String(maxInFlight), '≤ 6', maxInFlight <= 6),
    ];
  } finally {
    await server.stop();
  }
}

function checkResponses(texts) {
  const responses = Object.values(texts).map((text) => JSON.parse(text).data);
  const isComplete = ({ series, buckets }) =>
    series.length === SERIES && buckets.length === POINTS && series.every(({ values }) => values.length === POINTS);
  if (responses.length !== TILES || !responses.every(isComplete))
    throw new Error('the tiles have less data than expected');
}

const packages = createRequire(import.meta.url);

function drawBaseline(texts) {
  return withPage({ viewport: WHOLE_DASHBOARD }, async (page) => {
    await page.setContent('<!doctype html><body></body>');
    await page.addStyleTag({ path: packages.resolve('uplot/dist/uPlot.min.css') });
    await page.addScriptTag({ path: packages.resolve('uplot/dist/uPlot.iife.min.js') });
    return page.evaluate(drawWithLibrary, { texts, width: 500, height: 160, colors: COLORS });
  });
}

function scrollTextPage(height) {
  return withPage({}, async (page) => {
    const text = '<p>The quick brown fox jumps over the lazy dog.</p>'.repeat(200);
    await page.setContent(`<!doctype html><body style="height:${height}px;overflow-y:scroll">${text}</body>`);
    return page.evaluate(scrollThrough, { pixelsPerSecond: PIXELS_PER_SECOND });
  });
}

const FILL = `INSERT INTO pilothouse.otel_logs (OrganizationId, Timestamp, ServiceName, SeverityText, Body, LogAttributes)
  SELECT '${organizationId}', fromUnixTimestamp64Milli(toInt64(${T0} + intDiv(number, ${SERIES * TILES}) * ${MINUTE})),
    concat('service-', toString(number % ${TILES})), 'INFO', 'request done',
    map('route', concat('/v1/route/', toString(intDiv(number, ${TILES}) % ${SERIES})), 'duration_ms',
      toString(round(100 + 8 * (intDiv(number, ${TILES}) % ${SERIES}) + 40 * sin(number / 9973) + cityHash64(number) % 5000 / 100, 2)))
  FROM numbers(${SERIES * TILES * POINTS})`;

/** Three tiles per row. */
function createFleet() {
  const fleet = benchFleet({ entities: 1, days: 0 });
  const dashboard = {
    id: 'charts',
    name: 'Charts',
    tags: [],
    tiles: Array.from({ length: TILES }, (_, index) => ({
      id: `tile-${index}`,
      name: `Latency of service ${index}`,
      x: (index % 3) * 8,
      y: Math.floor(index / 3) * 6,
      w: 8,
      h: 6,
      series: [
        {
          type: 'time',
          dataSource: 'events',
          aggFn: 'avg',
          field: 'LogAttributes.duration_ms',
          where: `ServiceName:"service-${index}"`,
          groupBy: ['LogAttributes.route'],
          sourceId: 'logs',
        },
      ],
    })),
  };
  const [organization] = fleet.organizations;
  return { organizations: [{ ...organization, dashboards: [dashboard] }] };
}
