import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect } from 'vitest';
import type { Json } from '../support/client.ts';
import { useClockedServer } from '../support/clocked-server.ts';
import { type RunningService, useServices } from '../support/running-service.ts';

const IDLE_AFTER_MS = 16 * 60_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 150_000;

interface IdleService extends RunningService {
  host: string;
  port: string;
  nativePort: string;
  /** As in the record of the service. */
  readState(): Promise<string>;
}

/** An embedded service that is idle when the tests begin, so that the first query of a client wakes it. */
export function useIdleService(): IdleService {
  const server = useClockedServer('libsql', { settings: { endpointPorts: '0' }, isShared: true });
  const services = useServices({ call: (call) => server.call(call) });
  const idle = {} as IdleService;
  beforeAll(async () => {
    const service = await services.create();
    server.now += IDLE_AFTER_MS;
    // A change of the service makes the reconciler look at it.
    await services.send('PATCH', `/${service.id}`, { tags: { add: [{ key: 'touched', value: 'once' }] } });
    await services.untilState(service.id, 'idle');
    const { hostname: host, port } = new URL(service.url);
    const readState = async () => (await services.read(service.id)).state;
    const { endpoints } = await services.read(service.id);
    const nativePort = String(endpoints.find(({ protocol }: Json) => protocol === 'native')?.port);
    Object.assign(idle, { ...service, host, port, nativePort, readState });
  });
  return idle;
}

export type Outcomes = Record<string, { result?: Json; error?: string }>;

/** Runs a program that prints one JSON line per step. The server is in this process, so it must not block. */
export async function runSteps(program: string, args: string[]): Promise<Outcomes> {
  const options = { maxBuffer: MAX_OUTPUT_BYTES, timeout: TIMEOUT_MS };
  const { stdout } = await promisify(execFile)(program, args, options);
  const lines: Json[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return Object.fromEntries(lines.map(({ call, ...outcome }) => [call, outcome]));
}

/** Checks that a step was successful and returned the value. */
export function expectResult(outcomes: Outcomes, call: string, expected: unknown): void {
  expect(outcomes[call]?.error).toBeUndefined();
  expect(outcomes[call]?.result).toEqual(expected);
}
