import { describe, expect, it } from 'vitest';
import { renderText, renderVarint } from '../../../platform/listener/native-hello.ts';
import { classifyPackets, findServerRevision, skipAddendum } from './client-packets.ts';

const REST = Buffer.from([1, 0]);

describe('the packets of a native client', () => {
  it.each<[string, number[], string]>([
    ['pings', [4, 4], 'none'],
    ['a query', [1, 0], 'query'],
    ['a query after a ping', [4, 1, 0], 'query'],
    ['rows', [2, 0, 1], 'other'],
    ['anything else', [255], 'other'],
  ])('%s', (_, bytes, kind) => {
    expect(classifyPackets(Buffer.from(bytes))).toBe(kind);
  });

  it.each<[number, Buffer[]]>([
    [54406, []],
    [54458, [renderText('quota')]],
    [54470, [renderText(''), renderText('notchunked'), renderText('notchunked')]],
    [54483, [renderText(''), renderText('notchunked'), renderText('notchunked'), renderVarint(4)]],
  ])('come after the values that a client of revision %i sends first', (revision, values) => {
    const before = Buffer.concat(values);
    const whole = Buffer.concat([before, REST]);
    expect(skipAddendum(whole, revision)).toEqual(REST);
    for (let length = 0; length < before.length; length++)
      expect(skipAddendum(whole.subarray(0, length), revision)).toBeUndefined();
  });

  it('have the revision that the server knows', () => {
    const hello = Buffer.concat([
      renderVarint(0),
      renderText('ClickHouse'),
      ...[26, 7, 54483].map(renderVarint),
      renderText('UTC'),
    ]);
    expect(findServerRevision(hello)).toBe(54483);
    expect(findServerRevision(hello.subarray(0, 5))).toBeUndefined();
    // An exception instead of a hello.
    expect(findServerRevision(Buffer.from([2, 0]))).toBe(0);
  });
});
