import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { SIGNALS, type Signal } from '../../src/observability/ingest/wire/otlp-messages.ts';
import { OWN_DATABASE } from '../../src/platform/engine/engine.ts';
import type { Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';
import { JSON_TYPE, type OtlpResponse, PROTOBUF, send, sendBytes } from '../support/otlp-client.ts';
import { encodeRequest } from '../support/otlp-encoding.ts';
import { listRejected } from '../support/otlp-rejected.ts';
import { createFullRequest, logRecord, numberPoint, span, text, toRequest } from '../support/otlp-requests.ts';
import { createDamagedResource, mutateBytes, mutateJson } from './otlp-mutations.ts';
import { createRandom, type Random } from './random.ts';

const SEED = Number(process.env.HOSTILE_SEED ?? 12);
/** 20,000 with `npm run hostile`. */
const REQUESTS = 2 * Number(process.env.HOSTILE_REQUESTS ?? 200);
const SENDERS = 32;

const RESOURCES: Record<Signal, string> = {
  logs: 'resourceLogs',
  traces: 'resourceSpans',
  metrics: 'resourceMetrics',
};
/** Where the marked records of a signal are, and their attributes. */
const TABLES = {
  logs: ['otel_logs', 'LogAttributes'],
  traces: ['otel_traces', 'SpanAttributes'],
  metrics: ['otel_metrics_gauge', 'Attributes'],
} as const;

/** A valid record with an attribute that no other record has. */
function createMarked(signal: Signal, now: number, mark: string): Json {
  const attributes = [text('mark', mark)];
  if (signal === 'logs') return logRecord(now, { attributes });
  if (signal === 'traces') return span(now, { attributes });
  return { name: 'marked', gauge: { dataPoints: [numberPoint(now, { attributes })] } };
}

interface Generated {
  signal: Signal;
  format: 'protobuf' | 'json';
  body: Buffer;
  /** Of its valid records. Empty if anything may have been damaged. */
  marks: string[];
  /** It is valid OTLP, and one of its records breaks a rule. */
  isPartlyValid?: true;
}

const RETENTION_DAYS = 30;
/** Created once: some are large. */
const REJECTED = Object.fromEntries(
  SIGNALS.map((signal) => [signal, listRejected(signal, Date.now(), RETENTION_DAYS).map(({ record }) => record)]),
) as Record<Signal, Json[]>;

function generate(random: Random, id: string): Generated {
  const now = Date.now() - random.integer(0, 86_400_000);
  const signal = random.pick(SIGNALS);
  const format = random.chance(0.5) ? 'protobuf' : 'json';
  const full = createFullRequest(signal, now);
  if (random.chance(0.2)) {
    const bytes = format === 'json' ? Buffer.from(JSON.stringify(full)) : encodeRequest(signal, full);
    return { signal, format, body: mutateBytes(random, bytes), marks: [] };
  }
  const marks = Array.from({ length: random.integer(1, 3) }, (_, index) => `${id} ${index}`);
  const records = marks.map((mark) => createMarked(signal, now, mark));
  if (random.chance(0.4)) {
    records.splice(random.integer(0, records.length), 0, random.pick(REJECTED[signal]));
    const request = toRequest(signal, records);
    const body = format === 'json' ? Buffer.from(JSON.stringify(request)) : encodeRequest(signal, request);
    return { signal, format, body, marks, isPartlyValid: true };
  }
  const marked = toRequest(signal, records);
  if (format === 'json') {
    const damaged = mutateJson(random, full[RESOURCES[signal]][0]);
    const resources = [...marked[RESOURCES[signal]], damaged];
    if (random.chance(0.5)) resources.reverse();
    return { signal, format, body: Buffer.from(JSON.stringify({ [RESOURCES[signal]]: resources })), marks };
  }
  const parts = [encodeRequest(signal, marked), createDamagedResource(random, signal, now)];
  if (random.chance(0.5)) parts.reverse();
  return { signal, format, body: Buffer.concat(parts), marks };
}

/** A response that the protocol allows, in the format of the request. */
function expectSound({ status, headers, json }: OtlpResponse, { format, isPartlyValid }: Generated): void {
  if (isPartlyValid) expect([status, Object.values(json.partialSuccess ?? {})[0]]).toEqual([200, '1']);
  expect([200, 400, 413]).toContain(status);
  expect(headers.get('content-type')).toBe(format === 'json' ? JSON_TYPE : PROTOBUF);
  if (status === 200) return;
  expect(json).toEqual({ code: status === 400 ? 3 : 8, message: expect.any(String) });
  expect(json.message).not.toMatch(/undefined|\[object|Error:|node_modules|DB::/);
}

describe(`damaged telemetry, seed ${SEED}`, () => {
  const used = useIngest('libsql');
  const target = (authorization: string) => ({ url: used.server.otlpUrl, authorization });

  it('never fails the server, never crosses organizations, and never loses a valid record', {
    timeout: 60_000 + REQUESTS * 100,
  }, async () => {
    const random = createRandom(SEED);
    const stored: Record<string, string[]> = {};
    const statuses: Record<string, number> = {};
    let next = 0;

    async function sendOne(index: number): Promise<void> {
      const [organization, token] = random.chance(0.5) ? [acme, used.acme] : [globex, used.globex];
      const request = generate(random, `${organization.id} ${index}`);
      const { signal, format, body, marks } = request;
      const isCompressed = random.chance(0.2);
      const response = await sendBytes(target(token), signal, isCompressed ? gzipSync(body) : body, {
        'content-type': format === 'json' ? JSON_TYPE : PROTOBUF,
        ...(isCompressed && { 'content-encoding': 'gzip' }),
      });
      try {
        expectSound(response, request);
      } catch (error) {
        const shown = `${signal} ${format} ${body.toString('base64')}`;
        throw new Error(`request ${index}: ${response.status} ${JSON.stringify(response.json)}\n${shown}`, {
          cause: error,
        });
      }
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
      const key = `${organization.id} ${signal}`;
      if (response.status === 200) stored[key] = [...(stored[key] ?? []), ...marks];
    }

    const work = async () => {
      while (next < REQUESTS) await sendOne(next++);
    };
    await Promise.all(Array.from({ length: SENDERS }, work));

    for (const signal of SIGNALS) {
      const [table, attributes] = TABLES[signal];
      for (const { id } of [acme, globex])
        expect(await readMarks(table, attributes, id)).toEqual((stored[`${id} ${signal}`] ?? []).sort());
    }
    expect(await listOrganizations()).toEqual([acme.id, globex.id].sort());
    // Both kinds of responses are common, or the mutations are of no use.
    expect(statuses[200]).toBeGreaterThan(REQUESTS / 5);
    expect(statuses[400]).toBeGreaterThan(REQUESTS / 5);

    expect((await fetch(`${used.server.url}/readyz`)).status).toBe(200);
    for (const signal of SIGNALS)
      expect((await send(target(used.acme), signal, createFullRequest(signal, Date.now()))).json).toEqual({});
  });

  async function readMarks(table: string, attributes: string, organizationId: string): Promise<string[]> {
    const rows = await used.server.engine.query({
      sql: `SELECT ${attributes}['mark'] AS mark FROM ${OWN_DATABASE}.${table} WHERE OrganizationId = {id:String} AND mark != ''`,
      parameters: { id: organizationId },
    });
    return rows.map(([mark]) => String(mark)).sort();
  }

  /** A row that is not aligned with its columns would have another owner. */
  async function listOrganizations(): Promise<string[]> {
    const rows = await used.server.engine.query({
      sql: `SELECT DISTINCT OrganizationId FROM merge('${OWN_DATABASE}', '^otel_') ORDER BY 1`,
      parameters: {},
    });
    return rows.map(([id]) => String(id));
  }
});
