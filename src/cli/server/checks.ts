import { accessSync, constants, existsSync, mkdtempSync, opendirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import { limitTime } from '../../kernel/tasks/time-limit.ts';
import { plural } from '../../kernel/text.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import { type FoundFile, listProblems, readFolder } from '../../observability/dashboards/files/folder.ts';
import { describeInterruptedRestore } from '../../operations/backup/interrupted-restore.ts';
import { parseAlertFile } from '../../operations/fleet/alerting/alert-file.ts';
import { parseFleetFile } from '../../operations/fleet/file.ts';
import type { Engine } from '../../platform/engine/engine.ts';
import { isDirectoryInUse } from '../../platform/engine/failures.ts';
import { openEngine } from '../../platform/engine/open.ts';
import { findObstacle } from '../../platform/listener/installation.ts';
import { openState } from '../../platform/state/open.ts';
import { isKeyFileError } from '../../platform/state/secrets/key-file.ts';
import { readCredentials } from '../../running/backups/storage/s3-requests.ts';
import { createDomains } from '../../server/domains.ts';
import { createStorage } from '../../server/service-backups.ts';
import type { Config } from '../../server/settings/config.ts';
import { SETTINGS } from '../../server/settings/settings.ts';
import { type CommandContext, readInputFile, UsageError } from '../command.ts';
import { checkCertificate } from './certificate-check.ts';
import { type CheckResult, fail, pass } from './check-result.ts';
import { checkPorts } from './port-checks.ts';
import { checkSecrets, KEY_FILE_REMEDY } from './secrets-check.ts';

/** Checks everything that a server with these settings needs. */
export async function runChecks(context: CommandContext): Promise<CheckResult[]> {
  const node = checkNode();
  let config: Config;
  try {
    config = context.readConfig();
  } catch (error) {
    const text = error instanceof UsageError ? error.problems.join('; ') : (error as Error).message;
    return [
      node,
      fail('config', text, 'Correct these settings; docs/settings.md and pilothouse serve --help list them'),
    ];
  }
  const ports = await checkPorts(config);
  const isServerRunning = ports.some(({ isServed }) => isServed);
  return [
    node,
    pass('config', 'all settings are valid'),
    ...(await checkCertificate(config)),
    ...checkFleetFile(config, context),
    ...(await checkDashboards(config)),
    ...(await checkStore(config)),
    ...(await checkEngineFiles(config, isServerRunning)),
    checkServices(config),
    ...(await checkBackups(config)),
    ...ports.map(({ result }) => result),
  ];
}

function checkNode(): CheckResult {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isFine = major > 20 || (major === 20 && minor >= 19);
  const text = `Node.js ${process.versions.node}`;
  if (isFine) return pass('node', text);
  return fail('node', `${text}; 20.19 or later is required`, 'Install Node.js 20.19 or later and start with it');
}

/** Embedded services need packages that an installation may lack, which matters only where they are used. */
function checkServices({ defaultDriver }: Config): CheckResult {
  const obstacle = findObstacle();
  if (obstacle === undefined) return pass('services', 'embedded services can run');
  const text = `embedded services cannot run: ${obstacle}`;
  if (defaultDriver !== 'embedded') return pass('services', text);
  return fail('services', text, 'Install the optional packages with npm install, or set --default-driver simulated');
}

const BACKUP_CHECK_MS = 20_000;
const BACKUP_REMEDY =
  'Check that the bucket exists, that the address and region are right, and that the credentials may list, read, write and delete its objects; or let this user write to the directory';

/** Where backups of services go, if the settings name a place. */
async function checkBackups(config: Config): Promise<CheckResult[]> {
  if (config.backupStorage === undefined && config.backupDirectory === undefined) return [];
  const check = 'backups';
  const obstacle = await createStorage(config, systemClock).findObstacle(limitTime(BACKUP_CHECK_MS));
  if (obstacle !== undefined) return [fail(check, obstacle, BACKUP_REMEDY)];
  return [pass(check, 'the storage for backups of services can be used'), ...(await checkSqlCredentials(config))];
}

/** Those that ClickHouse of other drivers gets. They are read with each backup only. */
async function checkSqlCredentials({ backupS3SqlCredentialsFile: path }: Config): Promise<CheckResult[]> {
  if (path === undefined) return [];
  const check = 'backups';
  try {
    await readCredentials(path);
    return [pass(check, `${path} has credentials for ClickHouse`)];
  } catch (error) {
    const remedy =
      'Let this user read the file of --backup-s3-sql-credentials-file, and put aws_access_key_id and aws_secret_access_key into it';
    return [fail(check, (error as Error).message, remedy)];
  }
}

function checkFleetFile({ fleetFile }: Config, context: CommandContext): CheckResult[] {
  if (fleetFile === undefined) return [];
  const check = 'fleet';
  try {
    parseFleetFile(readInputFile(context, fleetFile));
    return [pass(check, `${fleetFile} is valid`)];
  } catch (error) {
    const remedy = `Correct the file, then check it with pilothouse apply ${fleetFile} --dry-run`;
    return [fail(check, (error as Error).message, remedy)];
  }
}

async function checkDashboards({ dashboardsDirectory: directory }: Config): Promise<CheckResult[]> {
  if (directory === undefined) return [];
  const check = 'dashboards';
  try {
    const files = await readFolder(directory);
    const remedy = 'Correct the file, then check it with pilothouse dashboard validate';
    const failed = files.flatMap((file) =>
      listFolderProblems(file).map((problem) => fail(check, `${file.path}: ${problem}`, remedy)),
    );
    if (failed.length > 0) return failed;
    return [pass(check, `${directory} contains ${plural(files.length, 'valid dashboard file')}`)];
  } catch (error) {
    const text = `${directory} cannot be read: ${(error as Error).message}`;
    return [fail(check, text, 'Create the directory, let the user of the server read it, or correct --dashboards')];
  }
}

function listFolderProblems(file: FoundFile): string[] {
  if (!('text' in file)) return 'problems' in file ? file.problems : [];
  try {
    parseAlertFile(file.text);
    return [];
  } catch (error) {
    return listProblems(error);
  }
}

/** With a larger difference, keys would expire early or late depending on the node. */
const MAX_CLOCK_SKEW_MS = 2000;

async function checkStore(config: Config): Promise<CheckResult[]> {
  const name = config.databaseUrl ? 'PostgreSQL' : `libSQL in ${config.dataDirectory}`;
  try {
    const state = await openState({ ...config, clock: systemClock, mayCreate: false });
    try {
      await state.check();
      return [
        pass('store', `${name} is reachable, migrated and writable`),
        ...(await checkSecrets(state)),
        checkClock(await state.now()),
      ];
    } finally {
      await state.close();
    }
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return [checkNewStore(config, name)];
    return [fail('store', `${name}: ${(error as Error).message}`, getStoreRemedy(error, config))];
  }
}

/** A server creates its store at its first start. */
function checkNewStore(config: Config, name: string): CheckResult {
  try {
    if (config.databaseUrl === undefined) {
      const directory = findExistingDirectory(resolve(config.dataDirectory));
      opendirSync(directory).closeSync();
      accessSync(directory, constants.W_OK);
    }
    return pass('store', `${name} has no store yet; pilothouse serve creates it`);
  } catch (error) {
    return fail('store', `${name}: ${(error as Error).message}`, getStoreRemedy(error, config));
  }
}

function findExistingDirectory(path: string): string {
  const parent = dirname(path);
  return existsSync(path) || parent === path ? path : findExistingDirectory(parent);
}

function getStoreRemedy(error: unknown, { databaseUrl }: Config): string {
  if (isKeyFileError(error)) return KEY_FILE_REMEDY;
  if (error instanceof AppError && error.code === 'conflict')
    return 'Start the version of Pilothouse that the message names, or restore a backup from before the upgrade';
  return databaseUrl
    ? 'Check that PostgreSQL runs and accepts connections from here, and that --database-url has the right host, user and password'
    : 'Check that this user may write to the directory and that its disk is not full, or set another one with --data';
}

function checkClock(storeNow: number): CheckResult {
  const now = systemClock.now();
  const skewMs = Math.abs(storeNow - now);
  const isPlausible = now > Date.parse('2026-01-01');
  const text = `${new Date(now).toISOString()}; the store's clock differs by ${skewMs} ms`;
  if (isPlausible && skewMs < MAX_CLOCK_SKEW_MS) return pass('clock', text);
  return fail('clock', text, 'Synchronize the clocks of this machine and of the database server, for example with NTP');
}

const NO_LOG = { debug() {}, info() {}, warn() {} };

/** The engine is not opened where a restore was interrupted: that would create an empty one. */
async function checkEngineFiles(config: Config, isServerRunning: boolean): Promise<CheckResult[]> {
  const interrupted = config.clickhouseUrl ? undefined : describeInterruptedRestore(config);
  if (interrupted) return [fail('restore', interrupted.text, interrupted.remedy)];
  return checkEngine(config, isServerRunning);
}

/** Checks the engine, and whether it has the usage events of the store. */
async function checkEngine(config: Config, isServerRunning: boolean): Promise<CheckResult[]> {
  // Only a server creates the data directory, whose name may be a typing error. Until then the engine runs in another one.
  const { dataDirectory } = config;
  const temporary = existsSync(dataDirectory) ? undefined : mkdtempSync(join(tmpdir(), 'pilothouse-doctor-'));
  const engine = openEngine({ ...config, dataDirectory: temporary ?? dataDirectory, clock: systemClock, log: NO_LOG });
  try {
    const { result, canRead } = await checkQueries(engine, isServerRunning, config);
    return [result, ...(await checkUsage(config, engine, canRead))];
  } finally {
    await engine.close();
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  }
}

/** Only one process at a time can use the files of the embedded engine. */
async function checkQueries(
  engine: Engine,
  isServerRunning: boolean,
  config: Config,
): Promise<{ result: CheckResult; canRead: boolean }> {
  const check = 'engine';
  try {
    const [[version] = []] = await engine.query({ sql: 'SELECT version()', parameters: {} });
    const kind = engine.kind === 'server' ? 'ClickHouse server' : 'embedded ClickHouse';
    return { result: pass(check, `${kind} ${version} responds`), canRead: true };
  } catch (error) {
    if (isServerRunning && isDirectoryInUse(error))
      return { result: pass(check, 'embedded ClickHouse is in use by the running server'), canRead: false };
    const { message, cause } = error as Error;
    const reason = cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message;
    const text = `tile data and metering are unavailable: ${reason}`;
    return { result: fail(check, text, getEngineRemedy(error, config)), canRead: false };
  }
}

function getEngineRemedy(error: unknown, { clickhouseUrl, clickhouseCluster, dataDirectory }: Config): string {
  if (clickhouseCluster !== undefined && (error as Error).message.startsWith(SETTINGS.clickhouseCluster.flag))
    return `Set ${SETTINGS.clickhouseCluster.flag} to the name of a cluster in remote_servers of the ClickHouse servers`;
  if (clickhouseUrl !== undefined)
    return 'Check that ClickHouse runs and accepts connections from here, and that --clickhouse-url has the right host, user and password';
  if (isDirectoryInUse(error))
    return `Stop the other program that uses ${dataDirectory}, or set another directory with --data`;
  return 'Install the optional packages with npm install and check the disk of the data directory, or set --clickhouse-url';
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const OWNER_REMEDY = 'Stop the other node, or give all nodes the same ClickHouse server with --clickhouse-url';

/** The store is checked first; if it cannot be opened, that check has failed already. */
async function checkUsage(config: Config, engine: Engine, canReadEngine: boolean): Promise<CheckResult[]> {
  const check = 'usage';
  const state = await openState({ ...config, clock: systemClock, mayCreate: false }).catch(() => undefined);
  if (!state) return [];
  try {
    const domains = createDomains({ state, engine, clock: systemClock, log: NO_LOG, config });
    const obstacle = await domains.engineOwner.findObstacle();
    const warnings = await domains.usageInspection.inspect({ canReadEngine });
    const failed = [
      ...(obstacle === undefined ? [] : [fail(check, obstacle, OWNER_REMEDY)]),
      ...warnings.map(({ message, remedy }) => fail(check, message, capitalize(remedy))),
    ];
    if (failed.length > 0) return failed;
    return [pass(check, 'the engine belongs to this store, and all days are rated and locked normally')];
  } catch (error) {
    return [fail(check, (error as Error).message, 'Correct the failed checks above, then run doctor again')];
  } finally {
    await state.close();
  }
}
