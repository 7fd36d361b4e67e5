import { createServer } from 'node:net';
import { type Config, listPorts } from '../../server/settings/config.ts';
import { SETTINGS } from '../../server/settings/settings.ts';
import { formatServerUrl, readFromServer } from '../connection/local-server.ts';
import { type CheckResult, fail, pass } from './check-result.ts';

interface PortCheck {
  result: CheckResult;
  /** A healthy Pilothouse server is listening on the port. */
  isServed: boolean;
}

/** Ports that have no health check: they belong to the server on the main port. */
const WITHOUT_HEALTH = new Set<string>([SETTINGS.otlpGrpcPort.flag, SETTINGS.tlsRedirectPort.flag]);

/** Checks the ports of the server: available, or used by a healthy server. */
export async function checkPorts(config: Config): Promise<PortCheck[]> {
  const { host } = config;
  return Promise.all(
    listPorts(config).map(async ({ port: candidate, flag }) => {
      const check = 'port';
      const address = `${host}:${candidate}`;
      const error = await findPortError(host, candidate);
      if (!error) return { result: pass(check, `${address} is available`), isServed: false };
      if (
        error.code === 'EADDRINUSE' &&
        (await isPilothouseHealthy(config, WITHOUT_HEALTH.has(flag) ? config.port : candidate))
      )
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

async function isPilothouseHealthy(config: Config, port: number): Promise<boolean> {
  try {
    const url = `${formatServerUrl(config, port, config.basePath)}/healthz`;
    const { status, headers, text } = await readFromServer(config, url);
    const body: unknown = JSON.parse(text);
    return (
      status === 200 && headers['x-request-id'] !== undefined && (body as { status?: unknown } | null)?.status === 'ok'
    );
  } catch {
    return false;
  }
}
