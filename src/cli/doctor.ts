import { createServer, isIPv6 } from 'node:net';
import type { Config } from '../config.ts';
import { readFolder } from '../dashboards/folder.ts';
import { createDomains } from '../domains.ts';
import type { Engine } from '../engine/engine.ts';
import { isDirectoryInUse } from '../engine/failures.ts';
import { openEngine } from '../engine/open.ts';
import { parseFleetFile } from '../fleet/file.ts';
import { systemClock } from '../kernel/clock.ts';
import { findObstacle } from '../listener/installation.ts';
import { ALL_SETTINGS } from '../settings.ts';
import { openState } from '../state/open.ts';
import { type CommandContext, defineCommand, readInputFile, UsageError } from './command.ts';
import { jsonOption } from './parameters.ts';

interface CheckResult {
  check: string;
  isFine: boolean;
  text: string;
}

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Check the settings, files, store, engine, ports and clock',
  settings: ALL_SETTINGS,
  options: { json: jsonOption },
  async run(context) {
    const results = await runChecks(context);
    const failed = results.filter(({ isFine }) => !isFine).length;
    return {
      json: results,
      lines: results.map(({ check, isFine, text }) => `${isFine ? 'ok  ' : 'FAIL'}  ${check.padEnd(10)}  ${text}`),
      error: failed > 0 ? new Error(`${failed} of ${results.length} checks failed`) : undefined,
    };
  },
});

async function runChecks(context: CommandContext): Promise<CheckResult[]> {
  const node = checkNode();
  let config: Config;
  try {
    config = context.readConfig();
  } catch (error) {
    const text = error instanceof UsageError ? error.problems.join('; ') : (error as Error).message;
    return [node, { check: 'config', isFine: false, text }];
  }
  const ports = await checkPorts(config);
  const isServerRunning = ports.some(({ isServed }) => isServed);
  return [
    node,
    { check: 'config', isFine: true, text: 'all settings are valid' },
    ...checkFleetFile(config, context),
    ...checkDashboards(config),
    ...(await checkStore(config)),
    ...(await checkEngine(config, isServerRunning)),
    checkServices(config),
    ...ports.map(({ result }) => result),
  ];
}

function checkNode(): CheckResult {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isFine = major > 20 || (major === 20 && minor >= 19);
  return {
    check: 'node',
    isFine,
    text: `Node.js ${process.versions.node}${isFine ? '' : '; 20.19 or later is required'}`,
  };
}

/** Embedded services need packages that an installation may lack, which matters only where they are used. */
function checkServices({ defaultDriver }: Config): CheckResult {
  const obstacle = findObstacle();
  return {
    check: 'services',
    isFine: obstacle === undefined || defaultDriver !== 'embedded',
    text: obstacle === undefined ? 'embedded services can run' : `embedded services cannot run: ${obstacle}`,
  };
}

function checkFleetFile({ fleetFile }: Config, context: CommandContext): CheckResult[] {
  if (fleetFile === undefined) return [];
  const check = 'fleet';
  try {
    parseFleetFile(readInputFile(context, fleetFile));
    return [{ check, isFine: true, text: `${fleetFile} is valid` }];
  } catch (error) {
    return [{ check, isFine: false, text: (error as Error).message }];
  }
}

function checkDashboards({ dashboardsDirectory: directory }: Config): CheckResult[] {
  if (directory === undefined) return [];
  const check = 'dashboards';
  try {
    const files = readFolder(directory);
    const problems = files.flatMap((file) =>
      'problems' in file ? file.problems.map((problem) => `${file.path}: ${problem}`) : [],
    );
    if (problems.length > 0) return problems.map((text) => ({ check, isFine: false, text }));
    return [{ check, isFine: true, text: `${directory} contains ${files.length} valid dashboard files` }];
  } catch (error) {
    return [{ check, isFine: false, text: `${directory} cannot be read: ${(error as Error).message}` }];
  }
}

/** With a larger difference, keys would expire early or late depending on the node. */
const MAX_CLOCK_SKEW_MS = 2000;

async function checkStore(config: Config): Promise<CheckResult[]> {
  const name = config.databaseUrl ? 'PostgreSQL' : `libSQL in ${config.dataDirectory}`;
  try {
    const state = await openState({ ...config, clock: systemClock });
    try {
      await state.check();
      return [
        { check: 'store', isFine: true, text: `${name} is reachable, migrated and writable` },
        checkClock(await state.now()),
      ];
    } finally {
      await state.close();
    }
  } catch (error) {
    return [{ check: 'store', isFine: false, text: `${name}: ${(error as Error).message}` }];
  }
}

function checkClock(storeNow: number): CheckResult {
  const now = systemClock.now();
  const skewMs = Math.abs(storeNow - now);
  const isPlausible = now > Date.parse('2026-01-01');
  return {
    check: 'clock',
    isFine: isPlausible && skewMs < MAX_CLOCK_SKEW_MS,
    text: `${new Date(now).toISOString()}; the store's clock differs by ${skewMs} ms`,
  };
}

const NO_LOG = { debug() {}, info() {}, warn() {} };

/** Checks the engine, and whether it has the usage events of the store. */
async function checkEngine(config: Config, isServerRunning: boolean): Promise<CheckResult[]> {
  const engine = openEngine({ ...config, clock: systemClock, log: NO_LOG });
  try {
    const { result, canRead } = await checkQueries(engine, isServerRunning);
    return [result, ...(await checkUsage(config, engine, canRead))];
  } finally {
    await engine.close();
  }
}

/** Only one process at a time can use the files of the embedded engine. */
async function checkQueries(
  engine: Engine,
  isServerRunning: boolean,
): Promise<{ result: CheckResult; canRead: boolean }> {
  const check = 'engine';
  try {
    const [[version] = []] = await engine.query({ sql: 'SELECT version()', parameters: {} });
    const kind = engine.kind === 'server' ? 'ClickHouse server' : 'embedded ClickHouse';
    return { result: { check, isFine: true, text: `${kind} ${version} responds` }, canRead: true };
  } catch (error) {
    if (isServerRunning && isDirectoryInUse(error)) {
      const text = 'embedded ClickHouse is in use by the running server';
      return { result: { check, isFine: true, text }, canRead: false };
    }
    const { message, cause } = error as Error;
    const reason = cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message;
    const text = `tile data and metering are unavailable: ${reason}`;
    return { result: { check, isFine: false, text }, canRead: false };
  }
}

/** The store is checked first; if it cannot be opened, that check has failed already. */
async function checkUsage(config: Config, engine: Engine, canReadEngine: boolean): Promise<CheckResult[]> {
  const check = 'usage';
  const state = await openState({ ...config, clock: systemClock }).catch(() => undefined);
  if (!state) return [];
  try {
    const domains = createDomains({ state, engine, clock: systemClock, log: NO_LOG, config });
    const obstacle = await domains.engineOwner.findObstacle();
    const warnings = await domains.usageInspection.inspect({ canReadEngine });
    const problems = [
      ...(obstacle === undefined ? [] : [obstacle]),
      ...warnings.map(({ message, remedy }) => `${message}; ${remedy}`),
    ];
    if (problems.length > 0) return problems.map((text) => ({ check, isFine: false, text }));
    return [{ check, isFine: true, text: 'the engine belongs to this store, and no day is held back' }];
  } catch (error) {
    return [{ check, isFine: false, text: (error as Error).message }];
  } finally {
    await state.close();
  }
}

interface PortCheck {
  result: CheckResult;
  /** A healthy Pilothouse server is listening on the port. */
  isServed: boolean;
}

async function checkPorts({ host, port, dashboardPort, basePath }: Config): Promise<PortCheck[]> {
  const ports = [port, dashboardPort].filter((candidate) => candidate !== undefined);
  return Promise.all(
    ports.map(async (candidate) => {
      const check = 'port';
      const address = `${host}:${candidate}`;
      const error = await findPortError(host, candidate);
      if (!error) return { result: { check, isFine: true, text: `${address} is available` }, isServed: false };
      if (error.code === 'EADDRINUSE' && (await isPilothouseHealthy(host, candidate, basePath)))
        return { result: { check, isFine: true, text: `a healthy server is running on ${address}` }, isServed: true };
      return {
        result: { check, isFine: false, text: `cannot listen on ${address}: ${error.message}` },
        isServed: false,
      };
    }),
  );
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

async function isPilothouseHealthy(host: string, port: number, basePath: string): Promise<boolean> {
  const address = LOOPBACK[host] ?? host;
  const authority = isIPv6(address) ? `[${address}]` : address;
  try {
    const response = await fetch(`http://${authority}:${port}${basePath}/healthz`, {
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
