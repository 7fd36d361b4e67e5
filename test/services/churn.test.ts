import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { useClockedServer } from '../support/clocked-server.ts';
import { isLongRun } from '../support/long-run.ts';
import { startRowLoad } from '../support/row-load.ts';
import { useServices } from '../support/running-service.ts';
import { until } from '../support/until.ts';

const MINUTE_MS = 60_000;
const RESIZES = isLongRun ? 50 : 2;
const WAKES = isLongRun ? 200 : 3;
/** Longer than it takes to notice a change and to stop. */
const MAX_PAUSE_MS = 800;
const LIMIT = { timeout: isLongRun ? 3_600_000 : 600_000 };

describe('an embedded service under load', () => {
  const server = useClockedServer('libsql', { settings: { endpointPorts: '0', rateLimit: 'off' }, isShared: true });
  const services = useServices({ call: (call) => server.call(call) });

  it(`is resized ${RESIZES} times without a failed query, a lost or a repeated row`, LIMIT, async () => {
    const service = await services.create();
    const load = await startRowLoad(service);
    for (let resize = 1; resize <= RESIZES; resize++) {
      const memoryGb = 16 + 8 * (resize % 3);
      const before = load.countAcknowledged();
      const { status } = await services.send('PATCH', `/${service.id}/replicaScaling`, {
        minReplicaMemoryGb: memoryGb,
      });
      expect(status).toBe(200);
      await until(
        () => services.read(service.id),
        (record) => record.status.observed.replicaMemoryGb === memoryGb && load.countAcknowledged() > before,
        'the service is not resized',
      );
    }
    await load.stop();
    expect(load.failures).toEqual([]);
    await load.verify();
  });

  it(`idles and wakes ${WAKES} times without a failed query, a lost or a repeated row`, LIMIT, async () => {
    const service = await services.create();
    const load = await startRowLoad(service);
    const readWake = async () => (await services.readIdle(service.id)).lastWake?.at;
    for (let wake = 1; wake <= WAKES; wake++) {
      const before = await readWake();
      await until(
        async () => {
          await load.pause();
          server.now += 16 * MINUTE_MS;
          // A change of the service makes the reconciler look at it. The queries return before, while or after it stops.
          const tags = { add: [{ key: 'touched', value: String(Math.random()) }] };
          await services.send('PATCH', `/${service.id}`, { tags });
          await delay(MAX_PAUSE_MS * Math.random());
          const acknowledged = load.countAcknowledged();
          load.resume();
          await until(
            async () => load.countAcknowledged(),
            (count) => count > acknowledged,
            'the queries are not answered',
          );
          return readWake();
        },
        (at) => at !== before,
        'the service does not idle and wake',
      );
    }
    await load.stop();
    expect(load.failures).toEqual([]);
    await load.verify();
    await services.untilState(service.id, 'running');
  });
});
