import { arch, availableParallelism, freemem, platform, release, totalmem } from 'node:os';
import { AppError } from '../../kernel/errors.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import { describeInterruptedRestore } from '../../operations/backup/interrupted-restore.ts';
import { openEngine } from '../../platform/engine/open.ts';
import { countRows, listTables, readHistory } from '../../platform/state/contents.ts';
import { openRawStore } from '../../platform/state/raw-access.ts';
import type { Config, SettingTexts } from '../../server/settings/config.ts';
import { ALL_SETTINGS } from '../../server/settings/settings.ts';
import { VERSION } from '../../server/version.ts';
import { type CommandContext, defineCommand, UsageError } from '../command.ts';
import { formatServerUrl, readFromServer } from '../connection/local-server.ts';
import { argument, jsonOption } from '../parameters.ts';
import { runChecks } from './checks.ts';
import { formatWithoutSecrets, redactSettings } from './redaction.ts';

const FORMAT = 1;

export const supportBundle = defineCommand({
  name: 'support-bundle',
  summary: 'Write a file for support: versions, settings without secrets, checks, row counts and metrics',
  settings: ALL_SETTINGS,
  defaults: { logLevel: 'silent' },
  arguments: { file: argument('<file>', 'JSON file to write; it must not exist') },
  options: { json: jsonOption },
  async run(context) {
    const { file } = context.arguments as { file: string };
    const texts = readTexts(context);
    const bundle = await collect(context, texts);
    try {
      context.writeNewFile(file, `${formatWithoutSecrets(bundle, texts ?? {})}\n`);
    } catch (error) {
      throw new UsageError([`${file} cannot be written: ${(error as Error).message}`]);
    }
    return { json: { file }, lines: [`Wrote ${file}. It contains no secrets; read it before you share it.`] };
  },
});

/** Undefined if a setting is invalid: the checks say which one. */
function readTexts(context: CommandContext): SettingTexts | undefined {
  try {
    return context.readSettingTexts();
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

async function collect(context: CommandContext, texts: SettingTexts | undefined): Promise<object> {
  const bundle = {
    format: FORMAT,
    createdAt: new Date(systemClock.now()).toISOString(),
    version: VERSION,
    node: process.versions.node,
    system: {
      platform: platform(),
      release: release(),
      arch: arch(),
      cores: availableParallelism(),
      memoryBytes: totalmem(),
      freeMemoryBytes: freemem(),
    },
  };
  // The store is read before the checks, which migrate it.
  const config = texts && context.readConfig();
  const store = config && (await orReason(() => readStore(config)));
  const server = config && (await orReason(() => readServer(config)));
  const checks = await runChecks(context);
  const engine = config && (await orReason(() => readEngine(config)));
  return { ...bundle, settings: texts && redactSettings(texts), checks, store, engine, server };
}

/** A part that cannot be read does not prevent the others. */
async function orReason(read: () => Promise<object>): Promise<object> {
  try {
    return await read();
  } catch (error) {
    return { unavailable: (error as Error).message };
  }
}

const formatMigrations = (applied: readonly { name: string }[]): string[] => applied.map(({ name }) => name);

/** The schema and the number of rows of each table. */
async function readStore(config: Config): Promise<object> {
  const store = await openRawStore(config, {});
  try {
    return await store.read(async (tx) => {
      const rows: Record<string, number> = {};
      for (const table of await listTables(tx, store.kind)) rows[table.name] = await countRows(tx, table);
      return { kind: store.kind, migrations: formatMigrations(await readHistory(tx, store.kind)), rows };
    });
  } finally {
    await store.close();
  }
}

const NO_LOG = { debug() {}, info() {}, warn() {} };

/** Fails if a server uses the embedded engine, or if a restore was interrupted. */
async function readEngine(config: Config): Promise<object> {
  const interrupted = config.clickhouseUrl ? undefined : describeInterruptedRestore(config);
  if (interrupted) throw new AppError('conflict', interrupted.text);
  const engine = openEngine({ ...config, clock: systemClock, log: NO_LOG });
  try {
    const sql = 'SELECT DISTINCT name FROM pilothouse.schema_migrations ORDER BY name';
    const rows = await engine.query({ sql, parameters: {} });
    return { kind: engine.kind, migrations: rows.map(([name]) => name) };
  } finally {
    await engine.close();
  }
}

/** The health and the metrics of a server on the port of the settings. */
async function readServer(config: Config): Promise<object> {
  const { port, basePath, metricsToken } = config;
  const url = formatServerUrl(config, port, basePath);
  const ready = await readFromServer(config, `${url}/readyz`);
  const headers: Record<string, string> = metricsToken === undefined ? {} : { authorization: `Bearer ${metricsToken}` };
  const metrics = await readFromServer(config, `${url}/metrics`, headers);
  return {
    url,
    ready: { status: ready.status, text: ready.text },
    metrics: { status: metrics.status, lines: metrics.text.split('\n') },
  };
}
