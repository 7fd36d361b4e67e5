import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ApiResponse, Call } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import type { TestServer } from '../support/server.ts';

export const USAGE_DAYS = ['2026-11-09', '2026-11-10', '2026-11-11'];
const EVENTS_PER_BATCH = 100;
/** In the meter's unit; binary fractions, so that test sums are exact. */
export const EVENT_QUANTITY = 1.25;

/** A value that only increases: the stored one is between the last acknowledged and the last sent. */
interface Progress {
  acknowledged: number;
  sent: number;
}

/** Everything that was sent and acknowledged so far, over all rounds. */
export interface Workload {
  keys: string[];
  /** The request ids of acknowledged changes. */
  requests: string[];
  timeouts: Record<string, Progress>;
  dashboard: Progress;
  /** The number of the next batch of usage events. A batch is repeated until it is acknowledged. */
  nextBatch: number;
}

export const createWorkload = (): Workload => ({
  keys: [],
  requests: [],
  timeouts: { [acme.primary]: { acknowledged: 15, sent: 1000 }, [acme.secondary]: { acknowledged: 15, sent: 1000 } },
  dashboard: { acknowledged: 0, sent: 0 },
  nextBatch: 0,
});

export const createUsageEvents = (batch: number) =>
  Array.from({ length: EVENTS_PER_BATCH }, (_, index) => ({
    id: `${batch}-${index}`,
    source: 'faults',
    time: `${USAGE_DAYS[(batch + index) % USAGE_DAYS.length]}T10:00:00Z`,
    entityType: 'service',
    entityId: index % 2 ? acme.primary : acme.secondary,
    meter: 'compute',
    quantity: EVENT_QUANTITY,
  }));

const organization = `/v1/organizations/${acme.id}`;

/** Changes everything at the same time until `stop` is called. Requests that fail during an outage are repeated. */
export function startWorkload(server: TestServer, workload: Workload): { stop(): Promise<void> } {
  let isStopped = false;

  /** Undefined if the server is gone or not available. Every other response must be a success. */
  async function change(call: Call): Promise<ApiResponse | undefined> {
    try {
      const response = await server.call(call);
      if (response.status === 503) return undefined;
      expect(response.status, response.text).toBe(200);
      return response;
    } catch (error) {
      // fetch throws a TypeError if the connection is gone.
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }

  async function repeat(step: () => Promise<ApiResponse | undefined>): Promise<void> {
    while (!isStopped) {
      const response = await step();
      if (!response) await delay(20);
    }
  }

  const createKeys = () =>
    repeat(async () => {
      const response = await change({
        method: 'POST',
        path: `${organization}/keys`,
        key: acme.admin,
        body: { name: `key ${workload.keys.length}` },
      });
      if (!response) return undefined;
      workload.keys.push(response.json.result.key.id);
      workload.requests.push(response.json.requestId);
      return response;
    });

  const rescale = (service: string, progress: Progress) =>
    repeat(async () => {
      progress.sent++;
      const response = await change({
        method: 'PATCH',
        path: `${organization}/services/${service}/scaling`,
        key: acme.admin,
        body: { idleTimeoutMinutes: progress.sent },
      });
      if (!response) return undefined;
      progress.acknowledged = response.json.result.idleTimeoutMinutes;
      workload.requests.push(response.json.requestId);
      return response;
    });

  const renameDashboard = () =>
    repeat(async () => {
      const { dashboard } = workload;
      dashboard.sent++;
      const response = await change({
        method: 'PUT',
        path: `/api/v2/dashboards/${acme.dashboard}`,
        token: acme.writer,
        body: { name: `board ${dashboard.sent}`, tags: [], tiles: [] },
      });
      if (response) dashboard.acknowledged = dashboard.sent;
      return response;
    });

  const sendUsage = () =>
    repeat(async () => {
      const response = await change({
        method: 'POST',
        path: `${organization}/usageEvents`,
        key: acme.admin,
        body: createUsageEvents(workload.nextBatch),
      });
      if (!response) return undefined;
      const { accepted, duplicates } = response.json.result;
      expect(accepted + duplicates).toBe(EVENTS_PER_BATCH);
      workload.nextBatch++;
      return response;
    });

  const writers = Promise.all([
    createKeys(),
    createKeys(),
    ...Object.entries(workload.timeouts).map(([service, progress]) => rescale(service, progress)),
    renameDashboard(),
    sendUsage(),
  ]);
  // Reported by `stop`.
  writers.catch(() => {});
  return {
    async stop() {
      isStopped = true;
      await writers;
    },
  };
}
