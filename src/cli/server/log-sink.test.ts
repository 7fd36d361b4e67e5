import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openLogSink } from './log-sink.ts';

describe('the log sink', () => {
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

  it('writes every line in order, including long lines and multi-byte characters', async () => {
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

  it('drops lines while the queue is full, and logs how many', async () => {
    const sink = openLogSink(fd, () => '');
    const line = `${'x'.repeat(999)}\n`;
    const count = 30_000;
    for (let index = 0; index < count; index++) sink.write(line);
    // The sink accepts lines again once its queue of 16 MiB is written.
    await vi.waitFor(() => expect(statSync(path).size).toBeGreaterThan(16 * 2 ** 20), { timeout: 20_000 });
    sink.write('{"msg":"after"}\n');
    await sink.close();
    const written = readFileSync(path, 'utf8').trim().split('\n');
    const [warning, last] = written.slice(-2).map((text) => JSON.parse(text));
    expect(warning).toMatchObject({
      level: 40,
      lines: count - (written.length - 2),
      msg: 'log lines were dropped',
    });
    expect(last).toEqual({ msg: 'after' });
    expect(written.length).toBeGreaterThan(15_000);
  });
});
