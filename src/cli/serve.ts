import type { Command } from 'commander';
import type { Config } from '../config.ts';
import type { Domains } from '../domains.ts';
import { parseFleetFile } from '../fleet/file.ts';
import type { FleetFile } from '../fleet/schema.ts';
import { systemClock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import { type Server, startServer } from '../server.ts';
import { configOf, createLogs, localActor, UsageError, type World, withSettings } from './command.ts';

export const SERVER_SETTINGS = [
  'port',
  'host',
  'dashboardPort',
  'basePath',
  'dataDirectory',
  'databaseUrl',
  'clickhouseUrl',
  'engineMemoryBytes',
  'openTables',
  'fleetFile',
  'dashboardsDirectory',
  'rateLimit',
  'maxKeys',
  'lockAfterDays',
  'trustedProxies',
  'telemetry',
  'telemetryOrganization',
  'webhookAllowPrivate',
  'logLevel',
] as const;

export function serveCommand(program: Command, world: World): void {
  withSettings(program.command('serve').description('run the server'), SERVER_SETTINGS).action(async (options) => {
    const config = configOf(options, world);
    await runServer(config, world, {
      ready({ url, dashboardUrl }) {
        world.print(
          JSON.stringify({ ready: true, url, dashboardUrl, store: config.databaseUrl ? 'postgres' : 'libsql' }),
        );
        return undefined;
      },
    });
  });
}

interface Hooks {
  /** What the console offers to sign in with. */
  demo?: { keyId: string; keySecret: string };
  prepare?(domains: Domains): Promise<void>;
  /** What it opens is closed before the server is. */
  ready(server: Server): { close(): Promise<void> } | undefined;
}

/** Serves until somebody says stop, then finishes what is in flight. */
export async function runServer(config: Config, world: World, { demo, prepare, ready }: Hooks): Promise<void> {
  const file = config.fleetFile === undefined ? undefined : parseFleetFile(readFleet(world, config.fleetFile));
  const { log, access, close } = createLogs(config.logLevel);
  try {
    const server = await startServer({
      config,
      clock: systemClock,
      log,
      access,
      demo,
      async prepare(domains) {
        await prepare?.(domains);
        if (file) await applyFile(domains, world, file);
      },
    });
    // Before anybody can know that we are up: a signal right after the ready line must find somebody who listens.
    const stopped = world.stopped();
    const background = ready(server);
    log.info({ url: server.url, dashboardUrl: server.dashboardUrl }, 'ready');
    await stopped;
    log.info('stopping');
    await background?.close();
    await server.close();
    log.info('stopped');
  } catch (error) {
    throw portTaken(error, config) ?? error;
  } finally {
    await close();
  }
}

async function applyFile(domains: Domains, world: World, file: FleetFile): Promise<void> {
  const { warnings } = await domains.fleet.apply(file, localActor(world, 'fleet'));
  for (const warning of warnings) world.say(`warning: ${warning}`);
}

export function readFleet(world: World, path: string): string {
  try {
    return world.readFile(path);
  } catch (error) {
    throw new UsageError([`${path} cannot be read: ${(error as Error).message}`]);
  }
}

function portTaken(error: unknown, { host, port, dashboardPort }: Config): Error | undefined {
  const { code, port: taken = port } = error as { code?: string; port?: number };
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EACCES') {
    return new AppError('conflict', `Cannot listen on ${host}:${taken}: ${(error as Error).message}`);
  }
  if (code !== 'EADDRINUSE') return undefined;
  const flag = taken !== port && taken === dashboardPort ? '--dashboard-port' : '--port';
  return new AppError(
    'conflict',
    `Port ${taken} is taken by another program; choose one with ${flag}, or 0 for any free one`,
  );
}
