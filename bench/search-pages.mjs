// The search page and the page of a large trace in the browser, with the demo.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findChromium } from '../tools/chromium.mjs';
import { withPage } from './console-browser.mjs';
import { startDemo } from './console-load.mjs';
import { firstFigures, scrollThrough, watchFirst } from './console-probes.mjs';
import { directory, figureRow, formatThousands, median } from './tools.mjs';

const ROUNDS = 5;
const SPANS = 10_000;
const SERVICES = 8;
const INGEST_TOKEN = 'demo-ingest-token';
const SCROLL = { selector: '[role="tree"]', pixelsPerSecond: 4000, ms: 5000 };

/** Returns no rows if Chromium is not installed. */
export async function searchPageRows() {
  if (findChromium() === '') {
    console.error('Chromium is not installed; skipping the pages.');
    return [];
  }
  const demo = await startDemo(join(directory, 'search-demo'));
  try {
    const traceId = await sendTrace(demo.url);
    const [found, drawn] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      found.push(await open(demo, '/search', 'table[aria-label="Rows, newest first"] tbody tr', '/api/v2/search'));
      drawn.push(await open(demo, `/traces/${traceId}`, '[role="treeitem"]', `/api/v2/traces/${traceId}`, SCROLL));
    }
    const middle = (rounds, name) => median(rounds.map((round) => round[name]));
    const [foundMs, drawnMs] = [middle(found, 'drawnMs'), middle(drawn, 'afterLastByteMs')];
    const [perSecond, longestMs] = [middle(drawn, 'perSecond'), middle(drawn, 'longestMs')];
    const trace = `a trace of ${formatThousands(SPANS)} spans`;
    return [
      figureRow(
        'search page of the demo, cold: first rows drawn',
        `${Math.round(foundMs)} ms`,
        '< 1,000 ms',
        foundMs < 1000,
      ),
      figureRow(`${trace}: drawn after the last byte`, `${Math.round(drawnMs)} ms`, '< 1,000 ms', drawnMs < 1000),
      figureRow(
        `${trace}: scrolling`,
        `${perSecond.toFixed(0)} frames/s (longest ${Math.round(longestMs)} ms)`,
        '≥ 50 frames/s',
        perSecond >= 50,
      ),
    ];
  } finally {
    await demo.stop();
  }
}

/** In a new browser; scrolls afterwards if asked to. */
const open = (demo, path, selector, request, scroll) =>
  withPage(demo, async (page) => {
    await page.addInitScript(watchFirst, selector);
    await page.goto(demo.url + path);
    const figures = await page.evaluate(firstFigures, request);
    return { ...figures, ...(scroll && (await page.evaluate(scrollThrough, scroll))) };
  });

/** Sends a trace whose spans have up to four levels, and resolves with its id when all of it can be read. */
async function sendTrace(url) {
  const traceId = randomBytes(16).toString('hex');
  const startMs = Date.now() - 60_000;
  const spanId = (number) => (number + 1).toString(16).padStart(16, '0');
  const toNanos = (ms) => `${Math.round(ms * 1000)}000`;
  const toSpan = (number) => ({
    traceId,
    spanId: spanId(number),
    ...(number > 0 && {
      parentSpanId: spanId(
        number % 100 === 0 ? 0 : number % 10 === 0 ? number - (number % 100) : number - (number % 10),
      ),
    }),
    name: `step ${number}`,
    kind: 2,
    startTimeUnixNano: toNanos(startMs + number * 0.5),
    endTimeUnixNano: toNanos(startMs + (number === 0 ? SPANS * 0.5 + 10 : number * 0.5 + 4)),
  });
  const spans = Array.from({ length: SPANS }, (_, number) => toSpan(number));
  const resourceSpans = Array.from({ length: SERVICES }, (_, service) => ({
    resource: { attributes: [{ key: 'service.name', value: { stringValue: `part-${service}` } }] },
    scopeSpans: [{ spans: spans.filter((_span, number) => number % SERVICES === service) }],
  }));
  const sent = await fetch(`${url}/otlp/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${INGEST_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans }),
  });
  if (!sent.ok) throw new Error(`the trace was answered with ${sent.status}: ${await sent.text()}`);
  for (;;) {
    const response = await fetch(`${url}/api/v2/traces/${traceId}`, {
      headers: { authorization: 'Bearer demo-dashboard-token' },
    });
    if (response.ok && (await response.json()).data.spans.length === SPANS) return traceId;
    await delay(200);
  }
}
