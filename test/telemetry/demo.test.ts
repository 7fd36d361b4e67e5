import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { startDemo } from '../support/demo.ts';
import { PROGRAM } from '../support/server.ts';

// Takes a few seconds, and many times longer on a loaded machine.
vi.setConfig({ testTimeout: 240_000 });

describe('demo telemetry', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-demo-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('prints one line if the engine is not installed, and the rest works', async () => {
    const program = join(directory, 'elsewhere', 'dist', 'main.js');
    const root = dirname(dirname(PROGRAM));
    mkdirSync(join(directory, 'elsewhere', 'node_modules'), { recursive: true });
    for (const part of ['dist', 'migrations', 'package.json'])
      cpSync(join(root, part), join(directory, 'elsewhere', part), { recursive: true });
    const packages = [
      '@clickhouse',
      '@fastify',
      '@grpc',
      'commander',
      'fastify',
      'ipaddr.js',
      'libsql',
      'lru-cache',
      'pg',
      'pino',
      'prom-client',
      'yaml',
    ];
    for (const name of packages)
      symlinkSync(join(root, 'node_modules', name), join(directory, 'elsewhere', 'node_modules', name));
    const running = await startDemo(join(directory, 'without'), program);
    try {
      expect(await running.telemetry).toMatch(/^demo telemetry is not available: .*is not installed; run npm install/);
      expect(running.welcome).toContain('Pilothouse is running.');
    } finally {
      expect(await running.stop(), running.messages()).toBe(0);
    }
  });
});
