import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, expect } from 'vitest';
import { newUuid } from '../../src/kernel/ids.ts';
import { systemClock } from '../../src/kernel/time/clock.ts';
import type { Desired, DrivenService, Observed } from '../../src/management/services/driver.ts';
import { createEmbeddedDriver } from '../../src/running/drivers/embedded/embedded.ts';

interface Answer {
  status: number;
  text: string;
}

interface Options {
  directory?: string;
  onChange?: (serviceId: string) => void;
  findPort?: () => Promise<number>;
}

/** A driver, by default with a directory of its own. */
export function useEmbeddedServices({ directory: given, ...options }: Options = {}) {
  const directory = given ?? mkdtempSync(join(tmpdir(), 'pilothouse-services-'));
  const driver = createEmbeddedDriver({
    directory,
    mibPerGb: 32,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    ...options,
  });
  afterAll(async () => {
    await driver.close();
    if (given === undefined) rmSync(directory, { recursive: true, force: true });
  });
  const never = new AbortController().signal;
  const observe = (service: DrivenService): Promise<Observed> => driver.observe(service, never);
  return {
    directory,
    driver,
    observe,
    createService: (id = newUuid()): DrivenService => ({ id, organizationId: newUuid(), name: 'analytics' }),
    converge: (service: DrivenService, state: Desired['state'], memoryGb = 16): Promise<void> =>
      driver.converge(service, { generation: 1, state, replicas: 1, memoryGb }, never),
    /** Sends a statement to the service's process, as the proxy does. */
    async query(service: DrivenService, sql: string, headers: Record<string, string> = {}): Promise<Answer> {
      const { upstream } = await observe(service);
      if (!upstream) expect.fail('the service is not running');
      return callUpstream(`http://${upstream.host}:${upstream.port}/`, sql, { ...upstream.headers, ...headers });
    },
  };
}

export async function callUpstream(url: string, sql: string, headers: Record<string, string>): Promise<Answer> {
  const response = await fetch(url, { method: 'POST', body: sql, headers });
  return { status: response.status, text: (await response.text()).trim() };
}
