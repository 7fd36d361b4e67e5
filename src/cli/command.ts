import { type Command, Option } from 'commander';
import pino, { type Logger } from 'pino';
import type { Actor } from '../audit/activity.ts';
import { type Config, loadConfig } from '../config.ts';
import { createDomains, type Domains } from '../domains.ts';
import { openEngine } from '../engine/open.ts';
import { type AccessLog, createAccessLog } from '../http/access-log.ts';
import { parseDateTime, systemClock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import { isStorable } from '../kernel/text.ts';
import type { Organization } from '../organizations/organization.ts';
import { type LogLevel, SETTINGS, type Setting, type SettingName } from '../settings.ts';
import { openState } from '../state/open.ts';
import { openLogSink } from './log-sink.ts';

/** The world outside, handed in by `main.ts`: commands read and write through it and nothing else. */
export interface World {
  environment: Record<string, string | undefined>;
  readFile(path: string): string;
  writeFile(path: string, text: string): void;
  /** For files of any size. */
  openFile(path: string): { bytes: number; chunks: AsyncIterable<Buffer> };
  /** Data: what another program may read. */
  print(line: string): void;
  /** Data of any size, as it is; resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void>;
  /** Talk: what a person reads. */
  say(line: string): void;
  /** Puts a line in the place of the one before, where somebody watches; nothing elsewhere. */
  redraw(line: string): void;
  /** Resolves when somebody asks the program to stop. */
  stopped(): Promise<void>;
  user: string;
}

/** Exit code 2: the command line, a setting or a file is wrong; everything wrong is listed. */
export class UsageError extends Error {
  readonly lines: string[];
  constructor(lines: string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }
}

export function withSettings(command: Command, names: readonly SettingName[]): Command {
  for (const name of names) {
    const { flag, argument, help, variable, fallback }: Setting = SETTINGS[name];
    const described = fallback ? `${help} (default: ${fallback})` : help;
    command.addOption(new Option(`${flag} ${argument}`, `${described} [${variable}]`));
  }
  return command;
}

export const STORE_SETTINGS = ['dataDirectory', 'databaseUrl', 'logLevel'] as const;

/** Commander names options after their flags, settings have names of their own. */
export function configOf(
  options: Record<string, unknown>,
  world: World,
  overrides: Partial<Record<SettingName, string>> = {},
): Config {
  const flags: Partial<Record<SettingName, string>> = { ...overrides };
  for (const [name, { flag }] of Object.entries(SETTINGS)) {
    const given = options[flag.slice(2).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
    if (typeof given === 'string') flags[name as SettingName] = given;
  }
  const loaded = loadConfig({ flags, environment: world.environment, readFile: world.readFile });
  if ('mistakes' in loaded) throw new UsageError(loaded.mistakes);
  return loaded.config;
}

interface Logs {
  log: Logger;
  /** One line for each answered request; none above level info. */
  access: AccessLog;
  close(): Promise<void>;
}

/** To standard error, in the background; must be closed before the process ends. */
export function createLogs(level: LogLevel): Logs {
  const timestamp = createTimestamp();
  const sink = openLogSink(STANDARD_ERROR, timestamp);
  const log = pino({ level, base: null, timestamp, serializers: { err: shortError } }, sink);
  const access = log.isLevelEnabled('info')
    ? createAccessLog(sink.write, timestamp, pino.levels.values.info ?? 30)
    : () => {};
  return { log, access, close: sink.close };
}

const STANDARD_ERROR = 2;

/** ISO 8601; made once a millisecond, since many lines share one. */
function createTimestamp(): () => string {
  let at = 0;
  let text = '';
  return () => {
    const now = systemClock.now();
    if (now !== at) {
      at = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

/** What helps to find a fault; a driver's `detail` may quote values, so it stays out. */
function shortError(error: unknown): object {
  const { name, message, code, stack } = (error ?? {}) as Error & { code?: unknown };
  return { name, message, code, stack };
}

/** Opens the store named by the settings, runs the work, closes the store. */
export async function withDomains<T>(
  options: Record<string, unknown>,
  world: World,
  work: (domains: Domains, config: Config) => Promise<T>,
): Promise<T> {
  const config = configOf(options, world);
  const { log, close } = createLogs(config.logLevel);
  const engine = openEngine({ ...config, clock: systemClock, log });
  const state = await openState({ ...config, clock: systemClock });
  try {
    return await work(createDomains({ state, engine, clock: systemClock, log, config }), config);
  } finally {
    await engine.close();
    await state.close();
    await close();
  }
}

export const localActor = (world: World, program = 'cli'): Actor => ({
  type: 'system',
  id: program,
  details: `pilothouse ${program}, ${world.user}`,
});

/** By id or by name; when there is only one organization, it need not be named. */
export async function chosenOrganization(domains: Domains, wanted: string | undefined): Promise<Organization> {
  const all = await domains.organizations.list();
  const found = all.filter(({ id, name }) => wanted === undefined || id === wanted.toLowerCase() || name === wanted);
  const [first] = found;
  if (first && found.length === 1) return first;
  if (wanted !== undefined && found.length === 0)
    throw new AppError('not_found', `organization ${wanted} does not exist`);
  if (all.length === 0)
    throw new AppError(
      'not_found',
      'There is no organization yet; declare one in a fleet file and run pilothouse apply',
    );
  throw new UsageError([`--org must name one of ${all.map(({ id, name }) => `${id} (${name})`).join(', ')}`]);
}

const MAX_NAME_CHARACTERS = 255;

/** The rule that the interface has for names (decision K8). */
export function nameMistakes(name: string | undefined): string[] {
  const isRight = name === undefined || (name !== '' && [...name].length <= MAX_NAME_CHARACTERS && isStorable(name));
  return isRight ? [] : [`--name must have 1 to ${MAX_NAME_CHARACTERS} characters`];
}

/** `--expires`: undefined is never. */
export function expiryOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDateTime(text, { offset: 'required' });
  if (ms === undefined || ms <= systemClock.now())
    throw new UsageError([`--expires must be an ISO 8601 date-time with an offset or Z, in the future, not "${text}"`]);
  return ms;
}

/** Columns of text, as wide as they need to be. */
export function table(header: string[], rows: string[][]): string[] {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(header), ...rows.map(line)];
}
