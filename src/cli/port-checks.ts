import { createServer, isIPv6 } from 'node:net';
import { type Config, listPorts } from '../server/settings/config.ts';
import { type CheckResult, fail, pass } from './check-result.ts';

interface PortCheck {
  result: CheckResult;
  /** A healthy Pilothouse server is listening on the port. */
  isServed: boolean;
}

/** Checks the ports of the server: available, or used by a healthy server. */
export async function checkPorts(config: Config): Promise<PortCheck[]> {
  const { host, basePath } = config;
  return Promise.all(
    listPorts(config).map(async ({ port: candidate, flag }) => {
      const check = 'port';
      const address = `${host}:${candidate}`;
      const error = await findPortError(host, candidate);
      if (!error) return { result: pass(check, `${address} is available`), isServed: false };
      if (error.code === 'EADDRINUSE' && (await isPilothouseHealthy(host, candidate, basePath)))
        return { result: pass(check, `a healthy server is running on ${address}`), isServed: true };
      const text = `cannot listen on ${address}: ${error.message}`;
      return { result: fail(check, text, getPortRemedy(error, flag)), isServed: false };
    }),
  );
}

function getPortRemedy({ code }: NodeJS.ErrnoException, flag: string): string {
  if (code === 'EADDRINUSE') return `Stop the program that uses the port, or choose another one with ${flag}`;
  if (code === 'EACCES') return `Choose a port above 1023 with ${flag}, or allow this user to listen on it`;
  return 'Set --host to an address of this machine, such as 127.0.0.1 or 0.0.0.0';
}

function findPortError(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', resolve);
    probe.listen(port, host, () => probe.close(() => resolve(undefined)));
  });
}

const HEALTH_TIMEOUT_MS = 5000;
/** Addresses that a server can listen on, but a client cannot connect to on every system. */
const LOOPBACK: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The address of a server on this machine. */
export function formatServerUrl(host: string, port: number, basePath: string): string {
  const address = LOOPBACK[host] ?? host;
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}${basePath}`;
}

async function isPilothouseHealthy(host: string, port: number, basePath: string): Promise<boolean> {
  try {
    const response = await fetch(`${formatServerUrl(host, port, basePath)}/healthz`, {
      redirect: 'error',
      signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS),
    });
    const body: unknown = await response.json();
    return (
      response.ok && response.headers.has('x-request-id') && (body as { status?: unknown } | null)?.status === 'ok'
    );
  } catch {
    return false;
  }
}
