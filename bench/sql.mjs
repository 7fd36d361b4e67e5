// npm run bench -- sql: a statement by role compared with the endpoint of the same service, and a large result in the browser.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findChromium } from '../tools/chromium.mjs';
import { withPage } from './console-browser.mjs';
import { resultFigures, scrollThrough, watchResult } from './console-probes.mjs';
import { benchFleet, key } from './fleet.mjs';
import {
  authorization,
  base,
  directory,
  figureRow,
  formatRequest,
  measureRates,
  median,
  ratioRow,
  startServer,
} from './tools.mjs';

const CONNECTIONS = 8;
const ROUNDS = Number(process.env.BENCH_SQL_ROUNDS ?? 5);
const RESULT_ROWS = 1_000_000;
/** In the format of a statement by role. The default format starts threads for each statement, which takes longer than the statement. */
const QUERY = '/?query=SELECT+1&default_format=JSONCompactEachRowWithProgress';
const STATEMENT = `SELECT number, toString(number) AS text FROM numbers(${RESULT_ROWS})`;
const SCROLL = { selector: 'section[aria-label="Result, table"]', pixelsPerSecond: 4000, ms: 5000 };

export async function sqlRows() {
  const fleetFile = join(directory, 'sql.json');
  writeFileSync(fleetFile, JSON.stringify(benchFleet({ entities: 0, days: 0 })));
  const args = ['--fleet', fleetFile, '--rate-limit', 'off', '--log-level', 'error', '--endpoint-ports', '0'];
  const server = await startServer(join(directory, 'sql'), args);
  try {
    const service = await createService(server);
    const rows = [await rateRow(server, service)];
    if (findChromium() === '') console.error('Chromium is not installed; skipping the result in the browser.');
    else rows.push(...(await resultRows(server, service)));
    return rows;
  } finally {
    await server.stop();
  }
}

async function createService(server) {
  const call = async (method, path, body) => {
    const response = await fetch(`${server.url}${base}/services${path}`, {
      method,
      headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await response.json()).result;
  };
  const wanted = { name: 'sql', provider: 'aws', region: 'eu-central-1', driver: 'embedded' };
  const { service, password } = await call('POST', '', wanted);
  for (;;) {
    const { state, endpoints } = await call('GET', `/${service.id}`);
    if (state === 'running' && endpoints) return { id: service.id, port: endpoints[0].port, password };
    await delay(100);
  }
}

/** As the admin of the service: readers have a quota of statements per minute. */
async function rateRow(server, { id, port, password }) {
  const statement = formatRequest('POST', `${base}/services/${id}/sql/write`, { sql: 'SELECT 1' });
  const direct = { authorization: `Basic ${Buffer.from(`default:${password}`).toString('base64')}` };
  const measure = () =>
    measureRates(
      { port: server.port, connections: CONNECTIONS, requests: [statement] },
      { port, connections: CONNECTIONS, requests: [formatRequest('GET', QUERY, undefined, direct)] },
    );
  // A few hundred statements per second: the first run is needed to compile the code.
  await measure();
  const rates = await measure();
  return ratioRow('SELECT 1 by role, 8 connections', rates, 'the endpoint of the service', 0.7);
}

async function resultRows({ url }, { id }) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++)
    rounds.push(
      await withPage({ url, credentials: key }, async (page) => {
        await page.addInitScript(watchResult, RESULT_ROWS);
        await page.goto(`${url}/services/${id}/sql`);
        await page.getByRole('textbox', { name: 'SQL', exact: true }).fill(STATEMENT);
        await page.getByRole('combobox', { name: 'Maximum rows to show' }).click();
        await page.getByRole('option', { name: 'At most 1,000,000 rows' }).click();
        await page.getByRole('button', { name: 'Run', exact: true }).click();
        const shown = await page.evaluate(resultFigures);
        const scrolled = await page.evaluate(scrollThrough, SCROLL);
        return { ...shown, ...scrolled };
      }),
    );
  const [shownMs, perSecond, longestMs] = ['shownMs', 'perSecond', 'longestMs'].map((name) =>
    median(rounds.map((round) => round[name])),
  );
  const name = 'a result of 1,000,000 rows in the browser';
  return [
    figureRow(`${name}: shown after the last byte`, `${Math.round(shownMs)} ms`, '< 2,000 ms', shownMs < 2000),
    figureRow(
      `${name}: scrolling`,
      `${perSecond.toFixed(0)} frames/s (longest ${Math.round(longestMs)} ms)`,
      '≥ 50 frames/s',
      perSecond >= 50,
    ),
  ];
}
