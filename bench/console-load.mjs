// The first load of the console, with the demo.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { withPage } from './console-browser.mjs';
import { loadFigures, watchLoad, watchPaint } from './console-probes.mjs';
import { directory, figureRow, median, program } from './tools.mjs';

const LOADS = 5;
/** Lighthouse's desktop profile. */
const DESKTOP_NETWORK = { offline: false, latency: 40, downloadThroughput: 1.25e6, uploadThroughput: 1.25e6 };

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
        await limitNetwork(page, network);
        await page.goto(demo.url);
        return { scripts, ...(await page.evaluate(loadFigures)) };
      });
    await load();
    const [local, remote, localBaseline, remoteBaseline] = [[], [], [], []];
    for (let round = 0; round < LOADS; round++) {
      local.push(await load());
      localBaseline.push(await paintText());
      remote.push(await load(DESKTOP_NETWORK));
      remoteBaseline.push(await paintText(DESKTOP_NETWORK));
    }
    const bytes = local[0].scripts
      .map((path) => gzipSync(readFileSync(join(dirname(program), 'console', path)), { level: 9 }).length)
      .reduce((sum, length) => sum + length, 0);
    const createRows = (loads, baseline, network) => {
      const middle = (name) => median(loads.map((figures) => figures[name]));
      const name = `demo overview, cold${network}`;
      const paint = middle('paintMs');
      const ready = middle('readyMs');
      return [
        {
          name: `${name}: first contentful paint`,
          ours: `${Math.round(paint)} ms`,
          baseline: `${Math.round(median(baseline))} ms, text-only page`,
          ratio: (paint / median(baseline)).toFixed(2),
          goal: '< 1,000 ms',
          isMet: paint < 1000,
        },
        figureRow(
          `${name}: ready`,
          `${Math.round(ready)} ms (rendered ${Math.round(middle('renderedMs'))} ms, longest task ${Math.round(middle('longestTaskMs'))} ms)`,
          '< 2,000 ms',
          ready < 2000,
        ),
      ];
    };
    return [
      figureRow(
        'demo overview: JavaScript, gzipped',
        `${(bytes / 1000).toFixed(1)} KB in ${local[0].scripts.length} files`,
        '≤ 250 KB',
        bytes <= 250_000,
      ),
      ...createRows(local, localBaseline, ''),
      ...createRows(remote, remoteBaseline, ', 10 Mbit/s, 40 ms latency'),
    ];
  } finally {
    await demo.stop();
  }
}

async function limitNetwork(page, network) {
  if (!network) return;
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', network);
}

/** The baseline: a page without scripts and styles, from a minimal server. */
async function paintText(network) {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Baseline</title><p>Pilothouse</p>');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await withPage({}, async (page) => {
      await page.addInitScript(watchPaint);
      await limitNetwork(page, network);
      await page.goto(`http://127.0.0.1:${server.address().port}`);
      return page.evaluate('window.bench');
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Resolves when the demo has loaded its telemetry and usage, so that its background work does not affect the figures. */
export async function startDemo(data) {
  const child = spawn(
    process.execPath,
    [program, 'demo', '--port', '0', '--otlp-port', '0', '--otlp-grpc-port', '0', '--data', data],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let text = '';
  const loaded = new Promise((resolve, reject) => {
    const read = (more) => {
      text += more;
      if (/Ctrl\+C/.test(text) && /demo telemetry/i.test(text) && /^demo usage/m.test(text)) resolve();
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    void ended.then(() => reject(new Error(`the demo exited: ${text}`)));
  });
  await loaded;
  const [, keyId, keySecret] = /Admin key\s+(\S+) : (\S+)/.exec(text) ?? [];
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
