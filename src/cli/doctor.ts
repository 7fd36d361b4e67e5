import { createServer } from 'node:net';
import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { readFolder } from '../dashboards/folder.ts';
import { openEngine } from '../engine/open.ts';
import { parseFleetFile } from '../fleet/file.ts';
import { systemClock } from '../kernel/clock.ts';
import { openState } from '../state/open.ts';
import { configOf, UsageError, type World, withSettings } from './command.ts';
import { readFleet, SERVER_SETTINGS } from './serve.ts';

interface Finding {
  check: string;
  isFine: boolean;
  text: string;
}

export function doctorCommand(program: Command, world: World): void {
  withSettings(
    program
      .command('doctor')
      .description('check the configuration, the store, the engine, the ports and the clock')
      .option('--json', 'as JSON'),
    SERVER_SETTINGS,
  ).action(async (options) => {
    const findings = await examine(options, world);
    if (options.json) world.print(JSON.stringify(findings));
    else
      for (const { check, isFine, text } of findings)
        world.print(`${isFine ? 'ok  ' : 'FAIL'}  ${check.padEnd(8)}  ${text}`);
    if (findings.some(({ isFine }) => !isFine)) throw new Error('Something needs attention; see above');
  });
}

async function examine(options: Record<string, unknown>, world: World): Promise<Finding[]> {
  const node: Finding = { check: 'node', isFine: isNodeRecent(), text: `Node ${process.versions.node}` };
  let config: Config;
  try {
    config = configOf(options, world);
  } catch (error) {
    return [
      node,
      {
        check: 'config',
        isFine: false,
        text: error instanceof UsageError ? error.lines.join('; ') : (error as Error).message,
      },
    ];
  }
  return [
    node,
    { check: 'config', isFine: true, text: 'every setting is valid' },
    ...examineFleet(config, world),
    ...examineDashboards(config),
    ...(await examineStore(config)),
    await examineEngine(config),
    ...(await examinePorts(config)),
  ];
}

function isNodeRecent(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 20 || (major === 20 && minor >= 19);
}

function examineFleet({ fleetFile }: Config, world: World): Finding[] {
  if (fleetFile === undefined) return [];
  try {
    parseFleetFile(readFleet(world, fleetFile));
    return [{ check: 'fleet', isFine: true, text: `${fleetFile} can be read` }];
  } catch (error) {
    return [{ check: 'fleet', isFine: false, text: (error as Error).message }];
  }
}

function examineDashboards({ dashboardsDirectory: directory }: Config): Finding[] {
  if (directory === undefined) return [];
  const check = 'folder';
  try {
    const files = readFolder(directory);
    const mistakes = files.flatMap((file) =>
      'problems' in file ? file.problems.map((mistake) => `${file.path}: ${mistake}`) : [],
    );
    if (mistakes.length > 0) return mistakes.map((text) => ({ check, isFine: false, text }));
    return [{ check, isFine: true, text: `${directory} has ${files.length} dashboards` }];
  } catch (error) {
    return [{ check, isFine: false, text: `${directory} cannot be read: ${(error as Error).message}` }];
  }
}

/** A database whose clock is off would make keys expire early or late, depending on who looks. */
const TOLERATED_SKEW_MS = 2000;

async function examineStore(config: Config): Promise<Finding[]> {
  const name = config.databaseUrl ? 'PostgreSQL' : `libSQL in ${config.dataDirectory}`;
  try {
    const state = await openState({ ...config, clock: systemClock });
    try {
      await state.check();
      const store: Finding = { check: 'store', isFine: true, text: `${name} is open, migrated and writable` };
      const skewMs = Math.abs((await state.now()) - systemClock.now());
      const isPlausible = systemClock.now() > Date.parse('2026-01-01');
      const text = `this machine says ${new Date(systemClock.now()).toISOString()}, the store differs by ${skewMs} ms`;
      return [store, { check: 'clock', isFine: isPlausible && skewMs < TOLERATED_SKEW_MS, text }];
    } finally {
      await state.close();
    }
  } catch (error) {
    return [{ check: 'store', isFine: false, text: `${name}: ${(error as Error).message}` }];
  }
}

async function examineEngine(config: Config): Promise<Finding> {
  const check = 'engine';
  const engine = openEngine({ ...config, clock: systemClock, log: { debug() {}, info() {}, warn() {} } });
  try {
    const [[version] = []] = await engine.query({ sql: 'SELECT version()', parameters: {} });
    const kind = engine.kind === 'server' ? 'the ClickHouse server' : 'the embedded engine';
    return { check, isFine: true, text: `${kind} answers; it is ClickHouse ${version}` };
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message;
    return { check, isFine: false, text: `no tile data and no metering: ${reason}` };
  } finally {
    await engine.close();
  }
}

async function examinePorts({ host, port, dashboardPort }: Config): Promise<Finding[]> {
  const ports = [port, dashboardPort].filter((one): one is number => one !== undefined);
  return Promise.all(
    ports.map(async (one) => {
      const reason = await whyTaken(host, one);
      return { check: 'port', isFine: reason === undefined, text: reason ?? `${host}:${one} is free` };
    }),
  );
}

function whyTaken(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve(`${host}:${port} cannot be used: ${error.message}`));
    probe.listen(port, host, () => probe.close(() => resolve(undefined)));
  });
}
