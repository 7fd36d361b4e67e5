import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createClient, type Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';
import { newTraceId, post, sendSpans, type TestSpan } from './support.ts';

const HOUR_MS = 3_600_000;
const SERVICES = ['web', 'cart', 'mail'];
const KINDS = ['internal', 'server', 'client', 'producer', 'consumer'] as const;
const ATTRIBUTES: Record<string, string>[] = [
  {},
  { 'messaging.system': 'kafka', 'messaging.destination.name': 'paid' },
  { 'messaging.system': 'kafka' },
  { 'db.system.name': 'postgresql', 'db.namespace': 'orders' },
  { 'peer.service': 'bank' },
];

/** The node that the attributes of a span name. */
function findTarget({ attributes = {} }: TestSpan): string | undefined {
  if (attributes['db.system.name']) return 'database:postgresql:orders';
  if (attributes['messaging.system']) return `queue:kafka:${attributes['messaging.destination.name'] ?? 'kafka'}`;
  return attributes['peer.service'] ? `external:${attributes['peer.service']}` : undefined;
}

/** The edges of one trace by the rules of docs/traces.md, one line for each request. */
function listEdges(spans: readonly TestSpan[]): string[] {
  const isExit = ({ kind }: TestSpan) => kind === 'client' || kind === 'producer';
  const isArrival = ({ kind }: TestSpan) => kind === 'server' || kind === 'consumer';
  return spans.flatMap((span) => {
    const edges: string[] = [];
    const own = `service:${span.service}`;
    const target = findTarget(span);
    const parent = spans.find(({ id }) => id === span.parent);
    const isOwnParent = parent?.service === span.service;
    if (parent && (!isOwnParent || (parent.kind === 'client' && span.kind === 'server')))
      edges.push(`service:${parent.service} > ${own}`);
    const arrivals = spans.filter((child) => child.parent === span.id && isArrival(child));
    const areOwnConsumers = arrivals.every(({ kind, service }) => kind === 'consumer' && service === span.service);
    if (isExit(span) && target && areOwnConsumers) edges.push(`${own} > ${target}`);
    if (span.kind === 'consumer' && target?.startsWith('queue:') && (!parent || (isOwnParent && isExit(parent))))
      edges.push(`${target} > ${own}`);
    return edges;
  });
}

const createSpan = (index: number): fc.Arbitrary<TestSpan> =>
  fc.record({
    id: fc.constant(`s${index}`),
    // The last possible parent is one that was not received.
    parent: fc.nat({ max: index + 1 }).map((parent) => `s${parent === index ? 99 : parent === index + 1 ? 0 : parent}`),
    service: fc.constantFrom(...SERVICES),
    kind: fc.constantFrom(...KINDS),
    attributes: fc.constantFrom(...ATTRIBUTES),
    from: fc.constant(index),
    to: fc.constant(index + 5),
  });
const traces = fc
  .integer({ min: 1, max: 8 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => createSpan(index))))
  .map((spans) =>
    spans.map(({ parent, ...span }, index) => (index === 0 || parent === undefined ? span : { ...span, parent })),
  );

describe('the service map', () => {
  const used = useIngest('libsql');
  const call = createClient(() => ({ url: used.server.url, dashboardUrl: used.server.url }));
  const target = () => ({ url: used.server.otlpUrl, authorization: used.acme });
  let hour = Math.floor(Date.now() / HOUR_MS) - 200;

  async function readEdges(all: readonly (readonly TestSpan[])[]): Promise<Record<string, number>> {
    const start = ++hour * HOUR_MS;
    for (const spans of all) await sendSpans(target(), newTraceId(), start, spans);
    const { status, json, text } = await post(call, acme.token, 'service-map', { start, end: start + HOUR_MS });
    expect(status, text).toBe(200);
    return Object.fromEntries(json.data.edges.map(({ from, to, requests }: Json) => [`${from} > ${to}`, requests]));
  }

  it('counts the calls of a service to itself, and its messages at their queue', async () => {
    const of = (kind: TestSpan['kind'], id: string, parent?: string): TestSpan => ({
      id,
      ...(parent !== undefined && { parent }),
      service: 'web',
      kind,
      from: 0,
      to: 1,
      attributes: ATTRIBUTES[kind === 'producer' || kind === 'consumer' ? 1 : 0] ?? {},
    });
    const calls = Array.from({ length: 3 }, (_, n) => [of('client', `c${n}`), of('server', `d${n}`, `c${n}`)]);
    const messages = Array.from({ length: 7 }, (_, n) => [of('producer', `p${n}`), of('consumer', `q${n}`, `p${n}`)]);
    expect(await readEdges([...calls, ...messages])).toEqual({
      'service:web > service:web': 3,
      'service:web > queue:kafka:paid': 7,
      'queue:kafka:paid > service:web': 7,
    });
  });

  it('has the edges of an independent evaluator', { timeout: 180_000 }, async () => {
    for (const all of fc.sample(fc.array(traces, { minLength: 10, maxLength: 30 }), { numRuns: 6, seed: 7 })) {
      const expected: Record<string, number> = {};
      for (const edge of all.flatMap(listEdges)) expected[edge] = (expected[edge] ?? 0) + 1;
      expect(await readEdges(all)).toEqual(expected);
    }
  });
});
