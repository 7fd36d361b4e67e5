import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readLogTail } from './log-file.ts';

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
