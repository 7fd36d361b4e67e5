import { beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible, inBrowser } from '../support/browser.ts';
import { createClient, type Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';
import { post } from '../traces/support.ts';

const HOUR_MS = 3_600_000;
const TRACES = 260_000;
const COLUMNS = [
  'OrganizationId',
  'Timestamp',
  'TraceId',
  'SpanId',
  'ParentSpanId',
  'ServiceName',
  'SpanName',
  'SpanKind',
  'Duration',
  'StatusCode',
];

const FILL_LIMIT_MS = 180_000;

const used = useIngest('libsql');
const start = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 5 * HOUR_MS;
const range = { start, end: start + HOUR_MS };

/** Each trace: a server span of 10 ms with a request of 4 ms to another service. */
async function fill(): Promise<void> {
  let lines: string[] = [];
  for (let index = 0; index < TRACES; index++) {
    const at = ((start + (index * HOUR_MS) / TRACES) / 1000).toFixed(9);
    const trace = index.toString(16).padStart(32, 'abcd');
    const ids = ['1', '2'].map((id) => id.padStart(16, '0'));
    lines.push(
      [acme.id, at, trace, ids[0], '', 'web', 'GET', 'Server', 10e6, 'Unset'].join('\t'),
      [acme.id, at, trace, ids[1], ids[0], 'cart', 'list', 'Server', 4e6, index % 10 === 0 ? 'Error' : 'Ok'].join('\t'),
    );
    if (lines.length < 100_000 && index < TRACES - 1) continue;
    await used.server.engine.insertTsv('otel_traces', COLUMNS, [Buffer.from(`${lines.join('\n')}\n`)]);
    lines = [];
  }
}
beforeAll(fill, FILL_LIMIT_MS);

describe('a range with more spans than are read', () => {
  const call = createClient(() => ({ url: used.server.url, dashboardUrl: used.server.url }));

  it('is sampled by trace, and counts are scaled back', async () => {
    const { json: operations } = await post(call, acme.token, 'operations', range);
    const { json: map } = await post(call, acme.token, 'service-map', range);
    const near = (value: number, expected: number) => expect(Math.abs(value / expected - 1)).toBeLessThan(0.02);
    expect(operations.data.sampling).toEqual({
      sampled: true,
      oneIn: Math.ceil((2 * TRACES) / 500_000),
      totalSpans: 2 * TRACES,
    });
    const [web, cart] = operations.data.operations as Json[];
    near(web.count, TRACES);
    near(web.totalNs, TRACES * 10e6);
    near(web.selfTimeNs, TRACES * 6e6);
    near(cart.selfTimeNs, TRACES * 4e6);
    expect([web.p95Ns, cart.p95Ns]).toEqual([10e6, 4e6]);
    // A trace is read as a whole or not at all: no edge is lost.
    const [edge] = map.data.edges as Json[];
    expect(map.data.edges.length).toBe(1);
    near(edge.requests, TRACES);
    near(edge.errors / edge.requests, 0.1);
  });
});

inBrowser('pages about more spans than are read', (browser) => {
  const note = /The range has 520,000 spans, so one in 2 traces was read/;
  const within = `from=${range.start}&to=${range.end}`;

  it('say that their figures are estimates', async () => {
    const page = await browser.signIn({ token: acme.token }, `${used.server.url}/service-map?${within}`);
    await page.getByText(note).waitFor();
    await page.goto(`${used.server.url}/traces?${within}`);
    await page.getByText('Operations by self time').click();
    await page.getByText(note).waitFor();
    await expectAccessible(page);
    // A range of fewer spans is read as a whole.
    const part = `from=${range.start}&to=${range.start + HOUR_MS / 4}`;
    await page.goto(`${used.server.url}/service-map?${part}`);
    await page.getByRole('link', { name: 'web → cart' }).waitFor();
    expect(await page.getByText('Estimated from a sample').count()).toBe(0);
  });
});
