// The first load of the console, on the demo.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { withPage } from './console-browser.mjs';
import { loadFigures, watchLoad, watchPaint } from './console-probes.mjs';
import { directory, measured, median, program } from './tools.mjs';

const LOADS = 5;
/** As Lighthouse has it for a desk. */
const DESK_NETWORK = { offline: false, latency: 40, downloadThroughput: 1.25e6, uploadThroughput: 1.25e6 };

export async function loadRows() {
  const demo = await startDemo(join(directory, 'demo'));
  try {
    const load = (network) =>
      withPage(demo, async (page) => {
        const scripts = [];
        page.on('response', (response) => {
          const { pathname } = new URL(response.url());
          if (pathname.endsWith('.js')) scripts.push(pathname);
        });
        await page.addInitScript(watchLoad);
        await slowDown(page, network);
        await page.goto(demo.url);
        return { scripts, ...(await page.evaluate(loadFigures)) };
      });
    await load();
    const [near, far, nearFloor, farFloor] = [[], [], [], []];
    for (let round = 0; round < LOADS; round++) {
      near.push(await load());
      nearFloor.push(await paintText());
      far.push(await load(DESK_NETWORK));
      farFloor.push(await paintText(DESK_NETWORK));
    }
    const bytes = near[0].scripts
      .map((path) => gzipSync(readFileSync(join(dirname(program), 'console', path)), { level: 9 }).length)
      .reduce((sum, length) => sum + length, 0);
    const rowsOf = (list, floor, network) => {
      const middle = (name) => median(list.map((one) => one[name]));
      const name = `overview of the demo, cold${network}`;
      const paint = middle('paintMs');
      const ready = middle('readyMs');
      return [
        {
          name: `${name}: first contentful paint`,
          ours: `${Math.round(paint)} ms`,
          floor: `${Math.round(median(floor))} ms, a page of text`,
          ratio: (paint / median(floor)).toFixed(2),
          goal: '< 1,000 ms',
          isReached: paint < 1000,
        },
        measured(
          `${name}: ready`,
          `${Math.round(ready)} ms (shown ${Math.round(middle('shownMs'))} ms, longest task ${Math.round(middle('longestTaskMs'))} ms)`,
          '< 2,000 ms',
          ready < 2000,
        ),
      ];
    };
    return [
      measured(
        'overview of the demo: script, gzipped',
        `${(bytes / 1000).toFixed(1)} KB in ${near[0].scripts.length} files`,
        '≤ 250 KB',
        bytes <= 250_000,
      ),
      ...rowsOf(near, nearFloor, ''),
      ...rowsOf(far, farFloor, ', 10 Mbit/s, 40 ms away'),
    ];
  } finally {
    await demo.stop();
  }
}

async function slowDown(page, network) {
  if (!network) return;
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', network);
}

/** The floor: a page without scripts and styles, from a server that does nothing else. */
async function paintText(network) {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Floor</title><p>Pilothouse</p>');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await withPage({}, async (page) => {
      await page.addInitScript(watchPaint);
      await slowDown(page, network);
      await page.goto(`http://127.0.0.1:${server.address().port}`);
      return page.evaluate('window.bench');
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Waits until its telemetry and its usage are there: what it does in the background is not what is measured. */
async function startDemo(data) {
  const child = spawn(process.execPath, [program, 'demo', '--port', '0', '--data', data], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let text = '';
  const isFilled = new Promise((resolve, reject) => {
    const hear = (more) => {
      text += more;
      if (/Ctrl\+C/.test(text) && /^(no )?demo telemetry/m.test(text) && /^(no )?demo usage/m.test(text)) resolve();
    };
    child.stdout.setEncoding('utf8').on('data', hear);
    child.stderr.setEncoding('utf8').on('data', hear);
    void ended.then(() => reject(new Error(`the demo ended: ${text}`)));
  });
  await isFilled;
  const [, keyId, keySecret] = /admin key\s+(\S+) : (\S+)/.exec(text) ?? [];
  const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
  return {
    url,
    credentials: { keyId, keySecret },
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}
