import type { Actor } from '../management/audit/activity.ts';
import type { Organization } from '../management/organizations/organization.ts';
import type { Domains } from '../server/domains.ts';
import type { Config, ConfigFile, SettingTexts } from '../server/settings/config.ts';
import type { SettingName } from '../server/settings/settings.ts';
import type { ParameterSet, ParameterValues } from './parameters.ts';

/** Access to the process: environment, files, streams and signals. Provided by `main.ts`; commands use nothing else. */
export interface ProcessAccess {
  environment: Record<string, string | undefined>;
  /** Throws if the file is larger than `maxBytes`. */
  readFile(path: string, maxBytes?: number): string;
  /** The permission bits of a file. */
  readFileMode(path: string): number;
  writeFile(path: string, text: string): void;
  /** Only the owner can read the file. Throws if it exists. */
  writeNewFile(path: string, text: string): void;
  /** Creates or replaces the file and its directory. Only the owner can read it. */
  writePrivateFile(path: string, text: string): void;
  /** Asks for a line on the terminal without showing it. Undefined if there is no terminal, or if nothing is typed. */
  readSecret(prompt: string): Promise<string | undefined>;
  /** Streams a file of any size. */
  openFile(path: string): { bytes: number; chunks: AsyncIterable<Buffer> };
  /** Writes a line of data to standard output. */
  print(line: string): void;
  /** Writes data of any size to standard output; resolves when the stream accepts more. */
  write(bytes: Uint8Array): Promise<void>;
  /** Writes a message for people to standard error. */
  printMessage(line: string): void;
  /** Whether standard error is a terminal. */
  hasTerminal: boolean;
  /** Replaces the last progress line; does nothing when standard error is not a terminal. */
  showProgress(line: string): void;
  /** Resolves on SIGTERM or SIGINT. */
  waitForStop(): Promise<void>;
  /** Calls the listener on each SIGUSR2. */
  onToggleDebug(listener: () => void): void;
  userName: string;
}

export interface ApiRequest {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Sent as JSON, without members that are undefined. */
  body?: object;
  /** Query parameters; those that are undefined are left out. */
  query?: Record<string, string | number | undefined>;
  /** By member or parameter: the option of the command, or `<argument>`, that error messages name instead. */
  options?: Record<string, string>;
}

/** The API of one organization: of a server, or of the store on this machine. */
export interface Api {
  organization: { id: string; name: string };
  /** Paths are relative to the organization. Returns the result of the response. */
  call<T>(path: string, request?: ApiRequest): Promise<T>;
  /** The records of all pages, or the first of them. */
  list<T>(path: string, request?: ApiRequest & { maxRecords?: number }): Promise<T[]>;
  /** A response that is a file. */
  download(path: string, request?: ApiRequest): AsyncIterable<Uint8Array>;
  /** Sends a body that is not JSON. */
  upload<T>(path: string, headers: Record<string, string>, body: Buffer): Promise<T>;
}

export interface ServerAddress {
  url: string;
  key: string;
}

/** A server, with its key if there is one. */
export type OptionalKey = Pick<ServerAddress, 'url'> & { key: string | undefined };

/** Exit code 2: the command line, a setting or a file is invalid. Lists all problems. */
export class UsageError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

export interface CommandContext<Options = unknown, Arguments = unknown> extends ProcessAccess {
  options: Options;
  arguments: Arguments;
  /** Throws a `UsageError` with every invalid setting. */
  readConfig(): Config;
  /** The settings as they were written, including secrets. */
  readSettingTexts(): SettingTexts;
  /** The file that `--config` names, as it was read first. */
  readConfigFile(): ConfigFile | undefined;
  /** The author of changes in the audit log; `program` identifies the command. */
  actor(program?: string): Actor;
  /** Opens the store and the engine, runs `work`, closes them. */
  withDomains<T>(work: (domains: Domains) => Promise<T>): Promise<T>;
  /** The server that the command is to use; undefined for the store. */
  findServer(): Promise<ServerAddress | undefined>;
  /** As `findServer`, for work that needs no key: it is not asked for. */
  findAddress(): OptionalKey | undefined;
  /** Runs `work` on the API of the server that the command is to use, or on that of the store. */
  withApi<T>(work: (api: Api) => Promise<T>): Promise<T>;
  /** As `withDomains`, with the organization that `--org` names. */
  withOrganization<T>(work: (organization: Organization, domains: Domains) => Promise<T>): Promise<T>;
}

/** Rendered by `program.ts`. Standard output gets `json` with `--json`, and `table` and `lines` otherwise. */
export interface CommandOutput {
  json?: unknown;
  table?: { header: string[]; rows: string[][] };
  lines?: readonly string[];
  /** For people, on standard error; omitted with `--json`. */
  notes?: readonly string[];
  /** On standard error, with and without `--json`. */
  warnings?: readonly string[];
  /** Thrown after the output is printed. */
  error?: Error | undefined;
}

interface CommandDefinition<Options, Arguments> {
  /** `serve`, or a group and a verb: `key create`. */
  name: string;
  summary: string;
  isHidden?: boolean;
  /** The settings that the command accepts as flags. */
  settings?: readonly SettingName[];
  /** Defaults that differ from those of `SETTINGS`. */
  defaults?: SettingTexts;
  /** The command creates the store if there is none. Other commands fail. */
  mayCreateStore?: boolean;
  arguments?: Arguments;
  options?: Options;
  run(context: CommandContext<ParameterValues<Options>, ParameterValues<Arguments>>): Promise<CommandOutput>;
}

/** A command with the types of its parameters erased. */
export interface Command extends Omit<CommandDefinition<ParameterSet, ParameterSet>, 'run'> {
  run(context: CommandContext): Promise<CommandOutput>;
}

export function defineCommand<const Options extends ParameterSet, const Arguments extends ParameterSet>(
  definition: CommandDefinition<Options, Arguments>,
): Command {
  type Context = CommandContext<ParameterValues<Options>, ParameterValues<Arguments>>;
  return { ...definition, run: (context) => definition.run(context as Context) };
}

/** Of a fleet file or price list. */
const MAX_INPUT_BYTES = 64 * 2 ** 20;

/** Reads a file that the user named; an unreadable file is a usage error. */
export function readInputFile({ readFile }: Pick<ProcessAccess, 'readFile'>, path: string): string {
  try {
    return readFile(path, MAX_INPUT_BYTES);
  } catch (error) {
    throw new UsageError([`${path} cannot be read: ${(error as Error).message}`]);
  }
}

/** The settings that a command accepts. A command with settings also reads them from a config file. */
export const listSettings = ({ settings }: Pick<Command, 'settings'>): SettingName[] =>
  settings ? [...new Set([...settings, 'configFile' as const])] : [];

/** A secret setting can also be read from a file: `--key-file`. */
export const formatFileFlag = (flag: string): string => `${flag}-file`;

const MAX_SECRET_BYTES = 64 * 1024;

/** Without the line break at its end. */
export function readSecretFile({ readFile }: Pick<ProcessAccess, 'readFile'>, path: string): string {
  try {
    return readFile(path, MAX_SECRET_BYTES).trim();
  } catch (error) {
    throw new UsageError([`${path} cannot be read: ${(error as Error).message}`]);
  }
}
