import { expect, it } from 'vitest';
import { type Json, listErrors, useStore } from '../support/cli.ts';
import { acme, fleet } from '../support/fleet.ts';
import { onEachStoreInLongRuns } from '../support/server.ts';

onEachStoreInLongRuns('pilothouse autoscale', (name) => {
  const store = useStore(name);
  const replay = (...args: string[]) => store.run('autoscale', 'replay', 'analytics', '--org', 'Acme', ...args);

  it('compares settings with simulated load', async () => {
    await store.apply(fleet);
    const args = ['--days', '7', '--simulate', 'daily', '--json'];
    const first = await replay(...args);
    expect(first.code, first.stderr).toBe(0);
    const { serviceId, days, simulated, variants } = JSON.parse(first.stdout);
    expect({ serviceId, days, simulated }).toEqual({
      serviceId: acme.primary,
      days: 7,
      simulated: { profile: 'daily', seed: 1 },
    });
    const costs = Object.fromEntries(variants.map(({ variant, costCHC }: Json) => [variant, costCHC]));
    // 7 days × 24 hours × 3 replicas × 2 or 15 units of 8 GB × 0.2985 CHC.
    expect(costs).toMatchObject({ 'off at minimum': 300.888, 'off at maximum': 2256.66 });
    expect(costs.current).toBeGreaterThan(300.888);
    expect(costs.current).toBeLessThan(2256.66);
    const [current, , , atMinimum, atMaximum] = variants;
    expect(atMinimum.shortMemoryMinutes).toBeGreaterThan(current.shortMemoryMinutes);
    expect(atMaximum).toMatchObject({ shortMemoryMinutes: 0, shortCpuMinutes: 0, changes: 0 });
    const table = await replay('--days', '7', '--simulate', 'daily', '--seed', '2');
    expect(table.stdout).toMatch(/^SETTINGS +MEMORY PER REPLICA +REPLICAS +CHC/);
    expect(table.stdout.split('\n').filter(Boolean)).toHaveLength(6);
  });

  it('explains what is wrong', async () => {
    await store.apply(fleet);
    expect(listErrors(await replay('--days', '91'))).toEqual(['--days must be a whole number from 1 to 90, not "91"']);
    expect(listErrors(await replay('--simulate', 'wavy'))).toEqual([
      '--simulate must be one of steady, daily, weekly, spiky, growing, not "wavy"',
    ]);
    expect(listErrors(await replay())).toEqual([
      `No load of service ${acme.primary} is recorded for this time; use --simulate to replay simulated load`,
    ]);
    expect(listErrors(await store.run('autoscale', 'replay', 'nothing', '--org', 'Acme'))).toEqual([
      'service nothing does not exist',
    ]);
  });
});
