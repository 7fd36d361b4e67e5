import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createOwnCheckFilter, readLogTail } from './log-file.ts';

describe('the end of a log', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pilothouse-log-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const nothing = { lines: [], hasEarlier: false };

  it('has the last lines, oldest first', () => {
    const path = write('short', 'one\n\ntwo\nthree\n');
    expect(readLogTail(path, 10)).toEqual({ lines: ['one', 'two', 'three'], hasEarlier: false });
    expect(readLogTail(path, 2)).toEqual({ lines: ['two', 'three'], hasEarlier: true });
    expect(readLogTail(join(folder, 'missing'), 10)).toEqual(nothing);
  });

  it('is bounded, whatever the size of the log and its lines', () => {
    const path = write('large', `${'x'.repeat(2_000_000)}\n${'short\n'.repeat(100_000)}`);
    const { lines, hasEarlier } = readLogTail(path, 100_000);
    expect(hasEarlier).toBe(true);
    expect(lines.length).toBeLessThan(50_000);
    expect(new Set(lines)).toEqual(new Set(['short']));
    const [line = ''] = readLogTail(write('long', 'y'.repeat(100_000)), 1).lines;
    expect(line).toHaveLength(4096);
  });

  it('shows control characters and invisible characters as text', () => {
    const path = write('controls', 'a\u001b]0;title\u0007b\u009bc\u202ed\u2028e\tf\r\n');
    expect(readLogTail(path, 1).lines).toEqual(['a\\u001b]0;title\\u0007b\\u009bc\\u202ed\\u2028e\tf\\u000d']);
  });

  it('follows no link and waits for no pipe', () => {
    symlinkSync(write('secret', 'secret\n'), join(folder, 'link'));
    expect(readLogTail(join(folder, 'link'), 10)).toEqual(nothing);
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect(readLogTail(join(folder, 'pipe'), 10)).toEqual(nothing);
    expect(readLogTail(folder, 10)).toEqual(nothing);
  });
});

describe('the filter of a log', () => {
  const stack = '\n0. ? @ 0x00007f2c85cfa4b3\n1. ? @ 0x00007f2c7831e3de\n (version 26.7.2.1)\n';
  const head = (thread: number, queryId: string, logger: string) =>
    `2026.11.19 13:59:36.372103 [ ${thread} ] {${queryId}} <Error> ${logger}: Code: 700. DB::Exception: `;
  const refused =
    'User 94309d50-4f52-5250-31bd-74fecac179db has overflown session count 1. (USER_SESSION_LIMIT_EXCEEDED), Stack trace:\n';
  const overHttp = `${head(1, '', 'DynamicQueryHandler')}${refused}${stack}`;
  const overNative = `${head(2, '', 'TCPHandler: TCPHandler')}${refused}${stack}\n`;
  const ofQuery = `${head(3, '5f3c', 'executeQuery')}${refused}${stack}(query: SELECT throwIf(1, 'é'))\n`;
  const crash = 'terminate called\n';

  /** The same log in pieces of any size: none of them may matter. */
  const filterAll = (text: string, size: number): string => {
    const filter = createOwnCheckFilter();
    const bytes = Buffer.from(text);
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      filter.add(bytes.subarray(index * size, (index + 1) * size)),
    );
    return Buffer.concat([...pieces, filter.end()]).toString();
  };

  it.each([1, 7, 100, 10_000])('removes the checks of a start, and nothing else: %i bytes at a time', (size) => {
    expect(filterAll(`${overHttp}${ofQuery}${overNative}${crash}${overHttp}last`, size)).toBe(
      `${ofQuery}${crash}${overHttp}last`,
    );
  });

  it('keeps the start of a line that is longer than it stores', () => {
    const long = 'x'.repeat(200_000);
    expect(filterAll(`${long}\n${ofQuery}`, 65_536)).toBe(`${long}\n${ofQuery}`);
  });
});
