import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createClient } from '../support/client.ts';
import { openEventStream } from '../support/event-stream.ts';
import { acme } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';
import { createSearchClient, T0 } from '../support/search.ts';
import { signIn } from '../support/sessions.ts';
import { until } from '../support/until.ts';

const range = { startTime: new Date(T0 - 60_000).toISOString(), endTime: new Date(T0 + 3_600_000).toISOString() };

describe('streams of a search', () => {
  const ingest = useIngest('libsql');
  const post = createSearchClient(() => ingest.server.url);
  const call = createClient(() => ({ url: ingest.server.url, dashboardUrl: ingest.server.url }));

  it('a session of the console can follow rows', async () => {
    const { headers } = await signIn({ call }, { token: acme.token });
    const url = `${ingest.server.url}/api/v2/search/tail`;
    const stream = await openEventStream(url, headers, { sourceId: 'logs', select: 'Body' });
    expect(stream.response.status).toBe(200);
    await ingest.server.engine.insert('otel_logs', [
      { OrganizationId: acme.id, Timestamp: new Date().toISOString(), Body: 'seen' },
    ]);
    await until(
      async () => stream.listRows(),
      (rows) => rows.length > 0,
      'the row does not arrive',
    );
    await stream.close();
  });

  it('exports more rows than a page, each once, up to the limit', async () => {
    const rows = Array.from({ length: 5000 }, (_, index) => ({
      OrganizationId: acme.id,
      Timestamp: new Date(T0 + Math.floor(index / 7)).toISOString(),
      ServiceName: 'exported',
      Body: `row ${index}`,
    }));
    await ingest.server.engine.insert('otel_logs', rows);
    const body = { sourceId: 'logs', ...range, where: 'ServiceName:"exported"', select: 'Body', format: 'ndjson' };
    const all = (await post('search/export', body)).text.trimEnd().split('\n');
    expect(new Set(all).size).toBe(5000);
    expect(all).toHaveLength(5000);
    const limited = (await post('search/export', { ...body, limit: 2500 })).text.trimEnd().split('\n');
    expect(limited).toEqual(all.slice(0, 2500));
    const csv = (await post('search/export', { ...body, format: 'csv' })).text.split('\r\n');
    expect([csv[0], csv.length]).toEqual(['Body', 5002]);
  });

  it('a failure in the middle of an export closes the connection', async () => {
    // The oldest row is larger than a response of the engine may be: as JSON, each of its characters takes six bytes.
    const rows = Array.from({ length: 2500 }, (_, index) => ({
      OrganizationId: acme.id,
      Timestamp: new Date(T0 + index).toISOString(),
      ServiceName: 'failing',
      Body: index === 0 ? '\u0001'.repeat(4_000_000) : `row ${index}`,
    }));
    await ingest.server.engine.insert('otel_logs', rows);
    const sent = request(`${ingest.server.url}/api/v2/search/export`, {
      method: 'POST',
      headers: { authorization: `Bearer ${acme.token}`, 'content-type': 'application/json' },
    });
    const body = { sourceId: 'logs', ...range, where: 'ServiceName:"failing"', select: 'Body', format: 'ndjson' };
    sent.end(JSON.stringify(body));
    const [response] = await once(sent, 'response');
    expect(response.statusCode).toBe(200);
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    const [error] = await once(response, 'error');
    expect(error.code).toBe('ECONNRESET');
    expect(response.complete).toBe(false);
    expect(bytes).toBeGreaterThan(0);
  });

  it('returns what was found in time, and continues from there', async () => {
    const body = {
      sourceId: 'logs',
      ...range,
      where: 'ServiceName:"exported"',
      select: 'Body',
      maxWaitMs: 100,
      maxResults: 2000,
    };
    const found: string[] = [];
    for (let cursor: string | null = 'start'; cursor !== null; ) {
      const { status, json } = await post('search', { ...body, cursor });
      expect(status, JSON.stringify(json)).toBe(200);
      found.push(...json.data.map((row: { Body: string }) => row.Body));
      cursor = json.nextCursor;
    }
    expect(new Set(found).size).toBe(5000);
    expect(found).toHaveLength(5000);
  });
});
