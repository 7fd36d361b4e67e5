import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createClient } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';
import { post, sendSpans } from '../traces/support.ts';

describe('hostile requests for traces', () => {
  const used = useIngest('libsql');
  const call = createClient(() => ({ url: used.server.url, dashboardUrl: used.server.url }));

  it('never fail on the server', { timeout: 180_000 }, async () => {
    const target = { url: used.server.otlpUrl, authorization: used.acme };
    await sendSpans(target, 'ab'.repeat(16), Date.now(), [{ id: 'a', from: 0, to: 5, kind: 'client' }]);
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.constantFrom('SpanName:a', "SpanName = 'a'", 'Duration > 1', "SpanAttributes['x']", '(((', "' OR 1=1 --", '*'),
    );
    const number = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, -1, 2 ** 53, 1e308, 1_794_960_000_000));
    const value = fc.oneof(text, number, fc.constant(null), fc.array(text, { maxLength: 3 }), fc.boolean());
    const body = fc.record(
      {
        where: fc.oneof(text, value),
        whereLanguage: fc.constantFrom('sql', 'lucene'),
        filters: fc.oneof(fc.array(text, { maxLength: 3 }), value),
        start: fc.oneof(fc.constant(Date.now() - 3_600_000), value),
        end: fc.oneof(fc.constant(Date.now()), value),
        limit: fc.oneof(fc.integer({ min: 1, max: 200 }), value),
        minDurationNs: number,
        maxDurationNs: number,
        orderBy: fc.constantFrom('newest', 'slowest', 'x'),
        sourceId: fc.oneof(fc.constantFrom('traces', 'pilothouse-traces', 'logs'), text),
      },
      { requiredKeys: [] },
    );
    const path = fc.constantFrom('search', 'operations', 'service-map');
    await fc.assert(
      fc.asyncProperty(path, body, async (name, content) => {
        const { status, text: answer } = await post(call, acme.token, name, content);
        expect([200, 400], `${name} ${JSON.stringify(content)}: ${answer}`).toContain(status);
      }),
      { numRuns: 300 },
    );
    await fc.assert(
      fc.asyncProperty(text, text, text, async (id, sourceId, logSourceId) => {
        const query = new URLSearchParams({ sourceId, logSourceId });
        const { status, text: answer } = await call({
          path: `/api/v2/traces/${encodeURIComponent(id.toWellFormed())}?${query}`,
          token: acme.token,
        });
        expect(status, answer).toBeGreaterThanOrEqual(400);
        expect(status, answer).toBeLessThan(500);
      }),
      { numRuns: 200 },
    );
  });
});
