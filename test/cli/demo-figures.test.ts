import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { demo } from '../../src/demo/fleet.ts';
import { startDemo } from '../support/demo.ts';

// Takes half a minute, and longer on a loaded machine.
vi.setConfig({ testTimeout: 300_000 });

const DAY = 86_400_000;
const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);

interface CostRecord {
  date: string;
  locked: boolean;
  totalCHC: number;
}

describe('figures of the demo', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-demo-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('are the same before and after the usage is metered and rated; the last week contains a spike', async () => {
    const running = await startDemo(join(directory, 'data'));
    try {
      const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(running.welcome) ?? [];
      const { keyId, keySecret } = demo.admin;
      const authorization = `Basic ${Buffer.from(`${keyId}:${keySecret}`).toString('base64')}`;
      const read = async (path: string) => {
        const response = await fetch(`${url}/v1/organizations/${demo.organizationId}/${path}`, {
          headers: { authorization },
        });
        const { result } = (await response.json()) as { result: never };
        return result;
      };
      const now = Date.now();
      const readCosts = async () => {
        const ranges = [0, 1, 2].map((part) => [now - (31 * part + 31) * DAY, now - (31 * part + 1) * DAY]);
        const lists = await Promise.all(
          ranges.map(async ([from = 0, to = 0]) => {
            const { costs } = await read(`usageCost?from_date=${day(from)}&to_date=${day(to)}`);
            // A day that is locked later keeps its amounts.
            return (costs as CostRecord[]).map(({ locked: _, ...record }) => record);
          }),
        );
        return lists.flat();
      };
      const before = await readCosts();
      expect(before.length).toBeGreaterThan(400);
      expect(await running.usage).toMatch(/^demo usage for the last 90 days is ready/);
      expect(await readCosts()).toEqual(before);

      const total = (ms: number) =>
        before.filter(({ date }) => date === day(ms)).reduce((sum, { totalCHC }) => sum + totalCHC, 0);
      const week = [1, 2, 3, 4, 5, 6].map((back) => total(now - back * DAY));
      const earlier = Array.from({ length: 30 }, (_, index) => total(now - (index + 8) * DAY));
      expect(Math.max(...week)).toBeGreaterThan(1.5 * Math.max(...earlier));
      const keys = (await read('keys')) as { name: string; expireAt: string | null }[];
      const expiring = keys.filter(({ expireAt }) => expireAt !== null && Date.parse(expireAt) < now + 12 * DAY);
      expect(expiring.map(({ name }) => name)).toEqual(['Nightly export']);
      expect(await read('budgets')).toHaveLength(1);
    } finally {
      expect(await running.stop()).toBe(0);
    }
  });
});
