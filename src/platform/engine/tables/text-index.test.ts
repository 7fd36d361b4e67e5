import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { systemClock } from '../../../kernel/time/clock.ts';
import { openEngine } from '../open.ts';

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-engine-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('a word in a log message is found by the index, also after a restart', { timeout: 300_000 }, async () => {
  const log = { debug() {}, info() {}, warn() {} };
  const words = 'an order took 17 ms'.split(' ');
  const rows = Array.from({ length: 20_000 }, (_, index) => ({
    OrganizationId: 'acme',
    Timestamp: '2026-11-17T10:00:00Z',
    Body: index === 12_345 ? 'The Needle' : words.join(' '),
  }));
  const condition = "OrganizationId = 'acme' AND hasToken(lower(Body), 'needle')";
  for (const isFirst of [true, false]) {
    const engine = openEngine({ dataDirectory: directory, clock: systemClock, log });
    try {
      if (isFirst) await engine.insert('otel_logs', rows);
      const read = async (sql: string) =>
        (await engine.query({ sql: `${sql} FROM pilothouse.otel_logs WHERE ${condition}`, parameters: {} })).flat();
      expect(await read('SELECT Body')).toEqual(['The Needle']);
      expect((await read('EXPLAIN indexes = 1 SELECT Body')).join('\n')).toContain('Name: body_words');
    } finally {
      await engine.close();
    }
  }
});
