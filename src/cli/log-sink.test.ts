import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLogSink } from './log-sink.ts';

describe('the log', () => {
  let directory: string;
  let path: string;
  let fd: number;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-log-'));
    path = join(directory, 'log');
    fd = openSync(path, 'w');
  });
  afterEach(() => {
    closeSync(fd);
    rmSync(directory, { recursive: true });
  });

  it('has every line, in order, whatever it is made of', async () => {
    const sink = openLogSink(fd, () => '');
    const lines = Array.from({ length: 20_000 }, (_, index) => `${index} ${'äx€😀'.repeat(index % 50)}\n`);
    lines[7000] = `${'€'.repeat(100_000)}\n`;
    for (const [index, line] of lines.entries()) {
      sink.write(line);
      if (index % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await sink.close();
    expect(readFileSync(path, 'utf8')).toBe(lines.join(''));
  });

  it('leaves lines out rather than grow without end, and says how many', async () => {
    const sink = openLogSink(fd, () => '');
    const line = `${'x'.repeat(999)}\n`;
    const given = 30_000;
    for (let count = 0; count < given; count++) sink.write(line);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    sink.write('{"msg":"after"}\n');
    await sink.close();
    const written = readFileSync(path, 'utf8').trim().split('\n');
    const [said, last] = written.slice(-2).map((text) => JSON.parse(text));
    expect(said).toMatchObject({
      level: 40,
      lines: given - (written.length - 2),
      msg: 'lines of this log were left out',
    });
    expect(last).toEqual({ msg: 'after' });
    expect(written.length).toBeGreaterThan(15_000);
  });
});
