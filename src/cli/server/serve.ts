import { setFlagsFromString } from 'node:v8';
import { isLoopbackHost } from '../../kernel/access/addresses.ts';
import { AppError } from '../../kernel/errors.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import { demo as demoData } from '../../operations/demo/fleet.ts';
import { parseFleetFile } from '../../operations/fleet/file.ts';
import { findEngineObstacle } from '../../platform/engine/backends/embedded-backend.ts';
import type { Domains } from '../../server/domains.ts';
import type { Server } from '../../server/server.ts';
import type { Options as StartOptions } from '../../server/server-parts.ts';
import { type Config, listPorts } from '../../server/settings/config.ts';
import { ALL_SETTINGS } from '../../server/settings/settings.ts';
import { ignoreSignals, isWorker, leave } from '../../server/workers/processes.ts';
import { type CommandContext, defineCommand, readInputFile, UsageError } from '../command.ts';
import { findExposedSecrets } from '../connection/config-file.ts';
import { openLogs } from './logs.ts';

export const serve = defineCommand({
  name: 'serve',
  summary: 'Run the server',
  settings: ALL_SETTINGS,
  async run(context) {
    const config = context.readConfig();
    const store = config.databaseUrl ? 'postgres' : 'libsql';
    await runServer(config, context, {
      check: (domains) => checkDemoData(config, context, domains),
      async onReady({ url, dashboardUrl, otlpUrl, otlpGrpcPort, domains }) {
        const code = await domains.setup.issueCode();
        context.print(JSON.stringify({ ready: true, url, dashboardUrl, otlpUrl, otlpGrpcPort, store }));
        for (const line of formatFirstSteps(url, code)) context.printMessage(line);
        return undefined;
      },
    });
    return {};
  },
});

/** The code is a secret: it is printed here, and is not part of the ready line, the log or its export. */
const formatFirstSteps = (url: string, code: string | undefined): string[] =>
  code === undefined
    ? []
    : [
        'There is no organization yet. Create the first one in a browser, at this path of any address of the server:',
        `  ${url}/setup#code=${code}`,
        'or run pilothouse init with the same --data or --database-url.',
      ];

/** The keys of the demo organization are public, in whichever store `demo` has created it. */
async function checkDemoData(
  { host, databaseUrl, dataDirectory }: Config,
  context: CommandContext,
  { organizations }: Domains,
): Promise<void> {
  if (!(await organizations.list()).some(({ id }) => id === demoData.organizationId)) return;
  const place = databaseUrl ? 'The database' : dataDirectory;
  const reason = `${place} contains the demo organization, whose credentials are public`;
  if (!isLoopbackHost(host))
    throw new UsageError([`${reason}; --host must be a loopback address, not "${host}", or use another store`]);
  context.printMessage(`warning: ${reason}; use another store for real data, and do not put a proxy in front`);
}

type Background = { close(): Promise<void> } | undefined;

interface Hooks {
  /** Credentials that the console offers for signing in. */
  demo?: { keyId: string; keySecret: string };
  /** The server starts without these ports if other programs use them. */
  optionalPorts?: readonly number[];
  prepare?(domains: Domains): Promise<void>;
  /** Runs after the fleet file was applied. Throws if the server must not start. */
  check?(domains: Domains): Promise<void>;
  /** The returned handle is closed before the server. */
  onReady(server: Server): Background | Promise<Background>;
}

/** Serves until a signal arrives, then completes requests in flight. */
export async function runServer(config: Config, context: CommandContext, hooks: Hooks): Promise<void> {
  // V8 guesses from the first objects of a kind how long all later ones live. If these were part of a large response, it
  // allocates the others where only a full collection frees them: an export then needs up to 100 MB more, and 7 % more time.
  setFlagsFromString('--no-allocation-site-pretenuring');
  if (isWorker()) return runWorker(config, hooks);
  const { fleetFile } = config;
  warnAboutConfigFile(context);
  const file = fleetFile === undefined ? undefined : parseFleetFile(readInputFile(context, fleetFile));
  // Said at the start: requests that need the engine may come much later.
  const obstacle = config.clickhouseUrl ? undefined : findEngineObstacle();
  if (obstacle !== undefined) context.printMessage(`warning: ${obstacle}`);
  const { log, access, toggleDebug, close } = openLogs(config);
  let server: Started | undefined;
  context.onToggleDebug(() => {
    toggleDebug();
    server?.toggleDebug?.();
  });
  try {
    const start = await loadStart(config);
    server = await start({
      config,
      clock: systemClock,
      log,
      access,
      demo: hooks.demo,
      optionalPorts: hooks.optionalPorts,
      async prepare(domains) {
        await hooks.prepare?.(domains);
        if (file) {
          const { warnings } = await domains.fleet.apply(file, context.actor('fleet'));
          for (const warning of warnings) context.printMessage(`warning: ${warning}`);
        }
        await hooks.check?.(domains);
      },
    });
    // Installed before the ready line is printed: a signal may follow it immediately.
    const stop = context.waitForStop();
    const background = await hooks.onReady(server);
    log.info({ url: server.url, dashboardUrl: server.dashboardUrl, otlpUrl: server.otlpUrl }, 'ready');
    await stop;
    log.info('stopping');
    await background?.close();
    await server.close();
    log.info('stopped');
  } catch (error) {
    throw toListenError(error, config) ?? error;
  } finally {
    await close();
  }
}

type Started = Server & { toggleDebug?(): void };
type Start = (options: StartOptions) => Promise<Started>;

/** Loaded when needed: without the HTTP framework, other commands need a fifth less CPU to start. */
async function loadStart({ workers }: Config): Promise<Start> {
  if (workers === 1) return (await import('../../server/server.ts')).startServer;
  return (await import('../../server/workers/workers.ts')).startPrimary;
}

/** Serves requests until the primary process stops. */
async function runWorker(config: Config, { demo, optionalPorts }: Hooks): Promise<void> {
  const { log, access, toggleDebug, close } = openLogs(config);
  const { joinPrimary, startWorker } = await import('../../server/workers/workers.ts');
  ignoreSignals();
  const connection = joinPrimary({ toggleDebug });
  try {
    const server = await startWorker({ config, clock: systemClock, log, access, demo, optionalPorts }, connection);
    await connection.stopped;
    await server.close();
  } catch (error) {
    // The primary process reports it.
    await connection.primary.failed((toListenError(error, config) ?? (error as Error)).message);
  } finally {
    await close();
    leave();
  }
}

function warnAboutConfigFile(context: CommandContext): void {
  const file = context.readConfigFile();
  const warning = file && findExposedSecrets(file, context);
  if (warning !== undefined) context.printMessage(`warning: ${warning}`);
}

const LISTEN_CALLS = ['listen', 'bind', 'getaddrinfo'];

function toListenError(error: unknown, config: Config): Error | undefined {
  const { host, port } = config;
  const { code, syscall = '', port: failedPort = port } = error as { code?: string; syscall?: string; port?: number };
  // A file can be inaccessible too.
  if (!LISTEN_CALLS.includes(syscall)) return undefined;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EACCES') {
    return new AppError('conflict', `Cannot listen on ${host}:${failedPort}: ${(error as Error).message}`);
  }
  if (code !== 'EADDRINUSE') return undefined;
  const { flag } = listPorts(config).findLast((known) => known.port === failedPort) ?? { flag: '--port' };
  return new AppError(
    'conflict',
    `Port ${failedPort} is in use by another program; choose another with ${flag}, or 0 for any free port`,
  );
}
