import { describe, expect, it } from 'vitest';
import { encodeRequest } from '../../../../test/support/otlp-encoding.ts';
import { atDepth, createValid, LARGE_SHARED, listRejected } from '../../../../test/support/otlp-rejected.ts';
import { logRecord, toRequest } from '../../../../test/support/otlp-requests.ts';
import { transcode } from '../transcode.ts';
import type { Transcoded } from './batch.ts';
import { SIGNALS, type Signal } from './otlp-messages.ts';

const NOW = Date.UTC(2026, 10, 17);
const DAY_NANOS = 86_400e9;
const RETENTION_DAYS = 30;
const options = {
  organizationId: 'acme',
  now: NOW * 1e6,
  oldest: NOW * 1e6 - RETENTION_DAYS * DAY_NANOS,
  newest: NOW * 1e6 + DAY_NANOS,
};

/** The same result for both formats. */
/** A record has another size in each format. */
const withoutSizes = (result: object) => ({
  ...result,
  ...('rejections' in result && { rejections: (result as Transcoded).rejections.map(({ bytes, ...rest }) => rest) }),
});

function run(signal: Signal, request: object): Transcoded {
  const shared = { signal, compression: undefined };
  const result = transcode({ ...shared, format: 'protobuf', body: encodeRequest(signal, request) }, options);
  const json = transcode({ ...shared, format: 'json', body: Buffer.from(JSON.stringify(request)) }, options);
  if (!('rows' in result)) return expect.fail(result.message);
  expect(withoutSizes(json)).toEqual(withoutSizes(result));
  return result;
}

const CASES = SIGNALS.flatMap((signal) =>
  listRejected(signal, NOW, RETENTION_DAYS).map(({ reason, record }) => [signal, reason, record] as const),
);

describe('a record that cannot be stored', () => {
  it.each(CASES)('%s: "%s" leaves no trace in the rows of the others', (signal, reason, record) => {
    const valid = createValid(signal, NOW);
    const result = run(signal, toRequest(signal, [valid, record, valid]));
    expect(result).toMatchObject({ accepted: 2, rejected: 1, rejections: [{ records: 1, serviceName: 'checkout' }] });
    expect(result.rejections[0]?.reason).toContain(reason);
    expect(result.rejections[0]?.sample.length).toBeLessThanOrEqual(300);
    expect(result.rows).toEqual(run(signal, toRequest(signal, [valid, valid])).rows);
  });

  it.each(SIGNALS)('%s: a resource or scope that is too large rejects its own records only', (signal) => {
    const valid = toRequest(signal, [createValid(signal, NOW)]);
    const [name] = Object.keys(valid) as [string];
    const [ofResource, ofScope] = [structuredClone(valid[name][0]), structuredClone(valid[name][0])];
    ofResource.resource.attributes = LARGE_SHARED;
    const [scopes] = Object.keys(ofScope).filter((key) => key.startsWith('scope')) as [string];
    ofScope[scopes][0].scope.attributes = LARGE_SHARED;
    const result = run(signal, { [name]: [ofResource, ...valid[name], ofScope] });
    expect(result).toMatchObject({ accepted: 1, rejected: 2 });
    expect(result.rejections.map(({ reason }) => reason)).toEqual([
      'its resource: it is larger than 64 KiB',
      'its scope: it is larger than 64 KiB',
    ]);
    expect(result.rows).toEqual(run(signal, valid).rows);
  });

  it('keeps values that are nested 16 levels deep, and times at the edge of the range', () => {
    const edges = [NOW - RETENTION_DAYS * 86_400_000, NOW + 86_400_000].map((time) => logRecord(time));
    expect(run('logs', toRequest('logs', [logRecord(NOW, atDepth(15)), ...edges]))).toMatchObject({ rejected: 0 });
  });

  it.each([
    [{ stringValue: 'payment failed' }, '"payment failed"'],
    [{ stringValue: 'x'.repeat(5000) }, `"${'x'.repeat(274)}`],
    [{ intValue: '-5' }, '"-5"'],
    [{ arrayValue: { values: [] } }, 'a list'],
    [{ kvlistValue: { values: [] } }, 'a map'],
    [{}, '""'],
  ])('is named by its body: case %#', (body, shown) => {
    const { rejections } = run('logs', toRequest('logs', [logRecord(0, { body })]));
    expect(rejections[0]?.sample).toBe(`log record with the body ${shown}`);
  });

  it('counts every record, and lists at most 20 reasons', () => {
    const resourceLogs = Array.from({ length: 50 }, (_, index) => toRequest('logs', [logRecord(0)], `s${index}`));
    const request = { resourceLogs: resourceLogs.flatMap((one) => one.resourceLogs) };
    const result = run('logs', request);
    // The last one has those of all other reasons.
    expect([result.rejected, result.rejections.length]).toEqual([50, 21]);
    expect(result.rejections.reduce((sum, { records }) => sum + records, 0)).toBe(50);
  });

  it('splits rows by days, so that no insert has more than 100 partitions', () => {
    const days = Array.from({ length: 400 }, (_, day) => logRecord(NOW - day * 86_400_000));
    const body = encodeRequest('logs', toRequest('logs', days));
    const result = transcode(
      { signal: 'logs', format: 'protobuf', compression: undefined, body },
      { ...options, oldest: 0 },
    );
    if (!('rows' in result)) return expect.fail(result.message);
    expect(result.rows.reduce((sum, { rows }) => sum + rows, 0)).toBe(400);
    expect(new Set(result.rows.map(({ block }) => block)).size).toBe(result.rows.length);
    for (const { rows } of result.rows) expect(rows).toBeLessThanOrEqual(90);
  });
});
