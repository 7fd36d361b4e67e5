import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/time/clock.ts';
import { openState } from '../../src/platform/state/open.ts';
import { createLoadHistory } from '../../src/running/autoscaling/load-history.ts';
import { acme, globex } from '../support/fleet.ts';
import { createTestSession } from '../support/leases.ts';
import { getSecretsKeyFile } from '../support/secrets-key.ts';
import { onEachStore, useServer } from '../support/server.ts';

const MINUTE_MS = 60_000;
const GIB = 2 ** 30;

onEachStore('autoscaling of a service', (store) => {
  const server = useServer(store);
  const path = `/v1/organizations/${acme.id}/services/${acme.primary}/autoscaling`;
  const get = (more = '', key = acme.admin) => server.call({ path: `${path}${more}`, key });
  const setMode = (body: object, key = acme.admin) => server.call({ method: 'PATCH', path, key, body });

  /** The same load in each of the last minutes. */
  async function record(minutes: number, cpuCores: number): Promise<void> {
    const dataDirectory = join(server.directory, 'data');
    const secretsKeyFile = getSecretsKeyFile();
    const state = await openState({
      dataDirectory,
      databaseUrl: server.databaseUrl,
      secretsKeyFile,
      clock: systemClock,
    });
    const now = Date.now();
    const samples = Array.from({ length: minutes }, (_, index) => ({
      at: now - (minutes - 1 - index) * MINUTE_MS,
      cpuCores,
      memoryBytes: 12 * GIB,
      memoryGb: 16,
      replicas: 3,
      state: 'running' as const,
    }));
    const { recordSamples } = createLoadHistory({ state });
    await recordSamples(createTestSession(state).state, [
      { organizationId: acme.id, serviceId: acme.primary, samples },
    ]);
    await state.close();
  }

  it('recommends by default, and explains why it changes nothing', async () => {
    expect((await get()).json.result).toMatchObject({
      mode: 'recommend',
      recommendation: {
        action: 'none',
        from: { memoryGb: 16, replicas: 3 },
        to: { memoryGb: 16, replicas: 3 },
        reason: 'No load was measured in the last 3 hours, so the size stays as it is.',
        inputs: { mode: 'vertical', minMemoryGb: 16, maxMemoryGb: 120, coveredMinutes: 0 },
      },
    });
    expect((await get('/decisions')).json.result).toEqual([]);
    expect((await get('/history')).json.result).toMatchObject({ stepMinutes: 1, points: [], decisions: [] });
  });

  it('the mode can be changed, which is an activity', async () => {
    expect((await setMode({ mode: 'off' })).json.result).toEqual({ mode: 'off' });
    expect((await get('', acme.developer)).json.result).toEqual({ mode: 'off' });
    const activities = `/v1/organizations/${acme.id}/activities?resource_id=${acme.primary}&limit=1`;
    expect((await server.call({ path: activities, key: acme.admin })).json.result).toMatchObject([
      { activityType: 'service_update_autoscaling_mode', before: { mode: 'recommend' }, after: { mode: 'off' } },
    ]);
    expect((await setMode({ mode: 'apply' })).json.result.mode).toBe('apply');
    expect((await setMode({ mode: 'never' })).json.error).toBe(
      'BAD_REQUEST: request body.mode: The value must be one of off, recommend, apply <string:never>',
    );
    expect((await setMode({})).status).toBe(400);
    expect((await setMode({ mode: 'off' }, acme.developer)).status).toBe(403);
    expect((await setMode({ mode: 'recommend' })).status).toBe(200);
  });

  it('the history has load, size and cost per hour', async () => {
    await record(90, 9.6);
    const { recommendation } = (await get()).json.result;
    expect(recommendation).toMatchObject({ action: 'up', to: { memoryGb: 20, replicas: 3 } });
    expect(recommendation.reason).toBe(
      'CPU peaked at 80% and memory at 25% in the 90 measured minutes of the last 3 hours, which is above the target, so a replica gets 20 GB instead of 16 GB.',
    );
    const { points, stepMinutes } = (await get('/history')).json.result;
    expect(points).toHaveLength(90);
    expect(stepMinutes).toBe(1);
    // 48 GB are 6 units of 8 GB, at 0.2985 CHC.
    expect(points[0]).toEqual({
      at: expect.any(String),
      state: 'running',
      memoryGb: 16,
      replicas: 3,
      cpuCores: 9.6,
      usedMemoryGb: 12,
      outOfMemory: 0,
      costPerHourCHC: 1.791,
    });
    const month = new Date(Date.now() - 30 * 86_400_000).toISOString();
    const long = (await get(`/history?from=${month}`)).json.result;
    expect(long.stepMinutes).toBe(30);
    expect(long.points.length).toBeLessThanOrEqual(5);
  });

  it.each([
    ['from=yesterday', 'query.from: The value must be a valid date-time <string:yesterday>'],
    ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'from: The value must be before to'],
    ['from=2026-01-01T00:00:00Z&to=2026-02-02T00:00:00Z', 'from: The value must be at most 31 days before to'],
  ])('the history rejects %s', async (query, text) => {
    const { status, json } = await get(`/history?${query}`);
    expect([status, json.error]).toEqual([400, expect.stringContaining(text)]);
  });

  it('other organizations and unknown services are not found', async () => {
    for (const part of ['', '/decisions', '/history']) {
      expect((await get(part, globex.admin)).status).toBe(404);
      const unknown = path.replace(acme.primary, '00000000-0000-4000-8000-000000000000');
      expect((await server.call({ path: `${unknown}${part}`, key: acme.admin })).status).toBe(404);
    }
  });

  it('an entry of the schedule may have a time zone', async () => {
    const schedule = path.replace('autoscaling', 'scalingSchedule');
    const send = (timeZone: string) =>
      server.call({
        method: 'POST',
        path: schedule,
        key: acme.admin,
        body: { entries: [{ name: 'Day', weekdays: [1], startHourUtc: 8, endHourUtc: 18, timeZone }] },
      });
    expect((await send('Europe/Berlin')).json.result.entries).toMatchObject([{ timeZone: 'Europe/Berlin' }]);
    for (const wrong of ['Berlin', '+02:00', '', '../etc/passwd'])
      expect((await send(wrong)).json.error).toContain(
        'entries[0].timeZone: The value must be the IANA name of a time zone, such as Europe/Berlin',
      );
    expect((await server.call({ method: 'DELETE', path: schedule, key: acme.admin })).status).toBe(200);
  });
});
