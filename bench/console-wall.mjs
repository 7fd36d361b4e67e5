// A wall of charts: a dashboard with as many points as fit, beside the library that draws them with nothing around it.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { withPage } from './console-browser.mjs';
import { drawBare, scrollThrough, tileFigures, watchTiles } from './console-probes.mjs';
import { benchFleet, key, organizationId, token } from './fleet.mjs';
import { openBareEngine } from './floor-engine.mjs';
import { directory, measured, median, startServer } from './tools.mjs';

const WALLS = 5;
const TILES = 24;
const SERIES = 20;
const POINTS = 300;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Yesterday at midnight. */
const T0 = Math.floor(Date.now() / DAY - 1) * DAY;
const PIXELS_PER_SECOND = 800;
const WALL = `/dashboards/wall?from=${T0}&to=${T0 + POINTS * MINUTE}&utc=true`;
const WALL_NAME = `${TILES} tiles of ${SERIES} series, ${POINTS} points each`;
/** Shows the whole wall at once. */
const WHOLE_WALL = { width: 1920, height: 2300 };
const COLOURS = ['#0b7285', '#d9480f', '#5f3dc4', '#2b8a3e'];

export async function wallRows() {
  const fleetFile = join(directory, 'wall.json');
  writeFileSync(fleetFile, JSON.stringify(wallFleet()));
  const data = join(directory, 'wall');
  const start = () => startServer(data, ['--fleet', fleetFile, '--rate-limit', 'off', '--log-level', 'warn']);
  let server = await start();
  // The first question makes the tables.
  await fetch(`${server.url}/api/v2/dashboards/wall/tiles/tile-0/data`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await server.stop();
  const engine = await openBareEngine(join(data, 'engine'));
  await engine.run(FILL);
  await engine.close();
  server = await start();
  const asked = { tiles: TILES, series: SERIES, granularity: '1m' };
  try {
    const draw = (more) =>
      withPage({ ...server, credentials: key, viewport: WHOLE_WALL }, async (page) => {
        await page.addInitScript(watchTiles, { ...asked, ...more });
        await page.goto(server.url + WALL);
        return page.evaluate(tileFigures);
      });
    const scroll = () =>
      withPage({ ...server, credentials: key }, async (page) => {
        await page.addInitScript(watchTiles, asked);
        await page.goto(server.url + WALL);
        await page.locator('[data-tile="tile-0"] canvas').first().waitFor();
        const coming = await page.evaluate(scrollThrough, PIXELS_PER_SECOND);
        const { most } = await page.evaluate(tileFigures);
        await page.evaluate('scrollTo(0, 0)');
        const drawn = await page.evaluate(scrollThrough, PIXELS_PER_SECOND);
        const height = await page.evaluate('document.documentElement.scrollHeight');
        return { coming, drawn, most, bare: await scrollBare(height) };
      });

    const first = await draw({});
    checkAnswers(first.texts);
    const walls = [];
    const atHand = [];
    const bare = [];
    const scrolls = [];
    for (let round = 0; round < WALLS; round++) {
      walls.push(await draw({}));
      atHand.push(await draw({ atHand: first.texts }));
      bare.push(await drawFloor(Object.values(first.texts)));
      scrolls.push(await scroll());
    }
    const afterLast = median(walls.map(({ afterLastByteMs }) => afterLastByteMs));
    const [ours, floor] = [median(atHand.map(({ afterFirstMs }) => afterFirstMs)), median(bare)];
    const most = Math.max(...[...walls, ...scrolls].map((one) => one.most));
    const empty = median(scrolls.map((one) => one.bare.perSecond));
    const scrollRow = (name, kind) => {
      const rate = median(scrolls.map((one) => one[kind].perSecond));
      const longest = Math.round(median(scrolls.map((one) => one[kind].longestMs)));
      return {
        name: `${WALL_NAME}: ${name}`,
        ours: `${rate.toFixed(0)} frames/s (longest ${longest} ms)`,
        floor: `${empty.toFixed(0)} frames/s, a page of text`,
        ratio: (rate / empty).toFixed(2),
        goal: '≥ 50 frames/s',
        isReached: rate >= 50,
      };
    };
    return [
      measured(
        `${WALL_NAME}: drawn after the last byte`,
        `${Math.round(afterLast)} ms`,
        '< 1,500 ms',
        afterLast < 1500,
      ),
      {
        name: `${WALL_NAME}: drawn when every answer comes at once`,
        ours: `${Math.round(ours)} ms`,
        floor: `${Math.round(floor)} ms, bare uPlot`,
        ratio: (ours / floor).toFixed(2),
        goal: '< 1,500 ms',
        isReached: ours < 1500,
      },
      scrollRow('scrolled through, drawn', 'drawn'),
      scrollRow('scrolled through while they come', 'coming'),
      measured(`${WALL_NAME}: queries in flight`, String(most), '≤ 6', most <= 6),
    ];
  } finally {
    await server.stop();
  }
}

function checkAnswers(texts) {
  const answers = Object.values(texts).map((text) => JSON.parse(text).data);
  const isWhole = ({ series, buckets }) =>
    series.length === SERIES && buckets.length === POINTS && series.every(({ values }) => values.length === POINTS);
  if (answers.length !== TILES || !answers.every(isWhole)) throw new Error('the tiles have less data than they should');
}

const packages = createRequire(import.meta.url);

function drawFloor(texts) {
  return withPage({ viewport: WHOLE_WALL }, async (page) => {
    await page.setContent('<!doctype html><body></body>');
    await page.addStyleTag({ path: packages.resolve('uplot/dist/uPlot.min.css') });
    await page.addScriptTag({ path: packages.resolve('uplot/dist/uPlot.iife.min.js') });
    return page.evaluate(drawBare, { texts, width: 500, height: 160, colours: COLOURS });
  });
}

function scrollBare(height) {
  return withPage({}, async (page) => {
    const text = '<p>The quick brown fox jumps over the lazy dog.</p>'.repeat(200);
    await page.setContent(`<!doctype html><body style="height:${height}px;overflow-y:scroll">${text}</body>`);
    return page.evaluate(scrollThrough, PIXELS_PER_SECOND);
  });
}

const FILL = `INSERT INTO pilothouse.otel_logs (OrganizationId, Timestamp, ServiceName, SeverityText, Body, LogAttributes)
  SELECT '${organizationId}', fromUnixTimestamp64Milli(toInt64(${T0} + intDiv(number, ${SERIES * TILES}) * ${MINUTE})),
    concat('service-', toString(number % ${TILES})), 'INFO', 'request done',
    map('route', concat('/v1/route/', toString(intDiv(number, ${TILES}) % ${SERIES})), 'duration_ms',
      toString(round(100 + 8 * (intDiv(number, ${TILES}) % ${SERIES}) + 40 * sin(number / 9973) + cityHash64(number) % 5000 / 100, 2)))
  FROM numbers(${SERIES * TILES * POINTS})`;

/** Three beside each other. */
function wallFleet() {
  const fleet = benchFleet({ entities: 1, days: 0 });
  const wall = {
    id: 'wall',
    name: 'Wall',
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
  return { organizations: [{ ...organization, dashboards: [wall] }] };
}
