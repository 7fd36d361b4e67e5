import { describe, expect, it } from 'vitest';
import { encodeRequest } from '../../../../test/support/otlp-encoding.ts';
import { logRecord, numberPoint, span, text, toRequest } from '../../../../test/support/otlp-requests.ts';
import { transcode } from '../transcode.ts';
import type { DistinctLimit } from './distinct.ts';
import { SIGNALS, type Signal } from './otlp-messages.ts';
import { hashBytes, SharedHashes } from './shared-hashes.ts';

const NOW = Date.UTC(2026, 10, 17);
const limitTo = (limit: number): DistinctLimit => ({ hashes: SharedHashes.allocate(limit), limit });

function run(signal: Signal, request: object, limits: { keys?: DistinctLimit; streams?: DistinctLimit }) {
  const result = transcode(
    { signal, format: 'protobuf', compression: undefined, body: encodeRequest(signal, request) },
    {
      organizationId: 'acme',
      now: NOW * 1e6,
      oldest: (NOW - 86_400_000) * 1e6,
      newest: NOW * 1e6 + 86_400e9,
      ...limits,
    },
  );
  return 'rows' in result ? result : expect.fail(result.message);
}

const numbered = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => text(`${prefix}.${index}`, 'value'));

/** Each of the places where attributes are: a record with 30 keys in it that are nowhere else. */
const PLACES: [string, Signal, object][] = [
  ['a log record', 'logs', toRequest('logs', [logRecord(NOW, { attributes: numbered('log', 30) })])],
  ['a span', 'traces', toRequest('traces', [span(NOW, { attributes: numbered('span', 30) })])],
  ['an event', 'traces', toRequest('traces', [span(NOW, { events: [{ attributes: numbered('event', 30) }] })])],
  [
    'a link',
    'traces',
    toRequest('traces', [
      span(NOW, { links: [{ traceId: 'ab'.repeat(16), spanId: 'ab'.repeat(8), attributes: numbered('link', 30) }] }),
    ]),
  ],
  [
    'a data point',
    'metrics',
    toRequest('metrics', [{ name: 'm', gauge: { dataPoints: [numberPoint(NOW, { attributes: numbered('p', 30) })] } }]),
  ],
  [
    'an exemplar',
    'metrics',
    toRequest('metrics', [
      {
        name: 'm',
        gauge: { dataPoints: [numberPoint(NOW, { exemplars: [{ filteredAttributes: numbered('e', 30) }] })] },
      },
    ]),
  ],
  [
    'a resource',
    'logs',
    {
      resourceLogs: [
        { resource: { attributes: numbered('resource', 30) }, scopeLogs: [{ logRecords: [logRecord(NOW)] }] },
      ],
    },
  ],
  [
    'a scope',
    'logs',
    {
      resourceLogs: [{ scopeLogs: [{ scope: { attributes: numbered('scope', 30) }, logRecords: [logRecord(NOW)] }] }],
    },
  ],
];

describe('the limit of attribute keys', () => {
  it.each(PLACES)('holds for the keys of %s; the record is stored without the others', (_, signal, request) => {
    const all = run(signal, request, {});
    const { newKeys } = run(signal, request, { keys: limitTo(1000) });
    expect(new Set(newKeys.map(({ name }) => name)).size).toBe(newKeys.length);
    const limit = newKeys.length - 20;
    const keys = limitTo(limit);
    const limited = run(signal, request, { keys });
    expect(limited.newKeys).toEqual(newKeys.slice(0, limit));
    expect([limited.accepted, limited.rejected]).toEqual([all.accepted, 0]);
    const sum = (of: 'records' | 'bytes') => limited.removed.reduce((total, one) => total + one[of], 0);
    const [removed, bytes] = [sum('records'), sum('bytes')];
    expect(removed).toBeGreaterThanOrEqual(20);
    // A KeyValue of a key and a text has four bytes in addition to them in protobuf, and two in the row.
    const rowBytes = (result: typeof all) => result.rows.reduce((total, rows) => total + rows.bytes.length, 0);
    if (_ !== 'a resource' && _ !== 'a scope') expect(rowBytes(all) - rowBytes(limited)).toBeLessThan(bytes);
    expect(rowBytes(limited)).toBeLessThan(rowBytes(all));
    // Known keys are stored again, and no others.
    const again = run(signal, request, { keys });
    expect(again.newKeys).toEqual([]);
    expect(again.rows).toEqual(limited.rows);
    expect(again.removed).toEqual(limited.removed);
  });

  it.each(SIGNALS)('%s: nothing changes below it', (signal) => {
    const request = PLACES.find(([, one]) => one === signal)?.[2] ?? {};
    const { rows, removed } = run(signal, request, { keys: limitTo(1000), streams: limitTo(1000) });
    expect(rows).toEqual(run(signal, request, {}).rows);
    expect(removed).toEqual([]);
  });

  it('does not count the keys of rejected records', () => {
    const keys = limitTo(100);
    const old = logRecord(NOW - 2 * 86_400_000, { attributes: numbered('old', 50) });
    const request = toRequest('logs', [old, logRecord(NOW, { attributes: numbered('new', 1) })]);
    const { newKeys, rejected } = run('logs', request, { keys });
    expect(rejected).toBe(1);
    expect(newKeys.map(({ name }) => name)).toContain('new.0');
    expect(newKeys.filter(({ name }) => name.startsWith('old'))).toEqual([]);
  });

  it('counts removed attributes by key, those of further keys together', () => {
    const records = Array.from({ length: 3 }, () => logRecord(NOW, { attributes: numbered('k', 50) }));
    const request = { resourceLogs: [{ scopeLogs: [{ logRecords: records }] }] };
    const { removed } = run('logs', request, { keys: limitTo(10) });
    expect(removed).toHaveLength(21);
    expect(removed[0]).toMatchObject({ key: 'k.10', records: 3 });
    expect(removed.reduce((sum, { records: count }) => sum + count, 0)).toBe(3 * 40);
  });
});

describe('the limit of metric streams', () => {
  const point = (attributes: object[]) => numberPoint(NOW, { attributes });
  const gauge = (name: string, dataPoints: object[]) => toRequest('metrics', [{ name, gauge: { dataPoints } }]);

  it('rejects the data points of further ones, and no others', () => {
    const streams = limitTo(100);
    const points = Array.from({ length: 20_000 }, (_, index) => point([text('id', String(index))]));
    const { accepted, rejected, rejections, refusedStreams } = run('metrics', gauge('m', points), { streams });
    expect([accepted, rejected, refusedStreams]).toEqual([100, 19_900, 19_900]);
    expect(rejections).toMatchObject([
      { reason: 'the organization has 100 metric streams on this day, which is its limit', records: 19_900 },
    ]);
    expect(run('metrics', gauge('m', points.slice(0, 100)), { streams })).toMatchObject({ accepted: 100, rejected: 0 });
    expect(run('metrics', gauge('other', points.slice(0, 1)), { streams })).toMatchObject({ accepted: 0, rejected: 1 });
  });

  it('a stream is a metric, its resource and its attributes in any order', () => {
    const streams = limitTo(100);
    const count = (request: object) => run('metrics', request, { streams }).newStreams.length;
    const [a, b] = [text('a', '1'), text('b', '2')];
    expect(count(gauge('m', [point([a, b]), point([b, a]), point([a, b])]))).toBe(1);
    expect(count(gauge('n', [point([a, b])]))).toBe(1);
    expect(count(gauge('m', [point([a]), point([text('a', '2'), b]), point([])]))).toBe(3);
    expect(count(toRequest('metrics', [{ name: 'm', gauge: { dataPoints: [point([a, b])] } }], 'payment'))).toBe(1);
    expect(count(gauge('m', [point([b, a])]))).toBe(0);
  });
});

describe('hashes in shared memory', () => {
  it('keep every value once, up to their capacity', () => {
    const hashes = new SharedHashes(SharedHashes.allocate(1000));
    const values = Array.from({ length: 1000 }, (_, index) => {
      const bytes = Buffer.from(`key ${index}`);
      return hashBytes(bytes, 0, bytes.length);
    });
    for (const value of values)
      expect([hashes.has(value), hashes.add(value), hashes.add(value)]).toEqual([false, true, false]);
    expect(hashes.count).toBe(1000);
    expect(values.every((value) => hashes.has(value) && hashes.has(value >>> 0))).toBe(true);
  });

  it('are full at some time, and searches still end', () => {
    const hashes = new SharedHashes(SharedHashes.allocate(1));
    let added = 0;
    for (let value = 0; value < 1000; value++) if (hashes.add(value)) added++;
    expect(added).toBe(hashes.count);
    expect(hashes.has(5000)).toBe(false);
  });
});
