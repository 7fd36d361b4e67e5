import { findNearest } from '../../observability/expressions/nearest-name.ts';
import { INVALID, SETTINGS, type Setting, type SettingName } from './settings.ts';

type Parsed<S> = S extends { parse(text: string): infer T } ? Exclude<T, typeof INVALID> : never;
type SettingValue<S> = S extends { fallback: string } ? Parsed<S> : Parsed<S> | undefined;

/** The parsed value of every setting. */
export type Config = { -readonly [Name in SettingName]: SettingValue<(typeof SETTINGS)[Name]> };

export type SettingTexts = Partial<Record<SettingName, string>>;

const PREFIX = 'PILOTHOUSE_';
/** Kubernetes injects these variables for a service named pilothouse, and PILOTHOUSE_PORT=tcp://… */
const SERVICE_LINK = /^PILOTHOUSE_(SERVICE_|PORT_\d)/;

/** The settings in a config file. */
export interface ConfigFile {
  path: string;
  /** By the name of the flag without the dashes in front. */
  values: Readonly<Record<string, unknown>>;
  /** Why the file cannot be used. */
  problems: readonly string[];
}

interface ConfigInput {
  flags: SettingTexts;
  file?: ConfigFile | undefined;
  /** Replace the defaults of `SETTINGS`. */
  defaults?: SettingTexts;
  environment: Record<string, string | undefined>;
  /** Reads the file that `<variable>_FILE` names. */
  readFile(path: string): string;
}

/** Reports all problems at once, before anything is opened. `texts` are the values as they were written. */
export function loadConfig(input: ConfigInput): { config: Config; texts: SettingTexts } | { problems: string[] } {
  const problems: string[] = [...(input.file?.problems ?? [])];
  const config: Partial<Record<SettingName, unknown>> = {};
  const texts: SettingTexts = {};
  for (const [name, setting] of Object.entries(SETTINGS) as [SettingName, Setting][]) {
    const found = findText(name, setting, input);
    if ('problem' in found) problems.push(found.problem);
    else if (found.text !== undefined) {
      const value = setting.parse(found.text);
      if (value === INVALID) problems.push(formatProblem(found.place, setting, found.text));
      config[name] = value;
      texts[name] = found.text;
    } else config[name] = undefined;
  }
  problems.push(...listUnknownVariables(input.environment));
  if (input.file) problems.push(...listUnknownNames(input.file));
  const ports = listPorts(config as Config);
  for (const [index, { port, flag }] of ports.entries()) {
    const same = ports.slice(0, index).find((other) => port !== 0 && other.port === port);
    if (same) problems.push(`${flag} must differ from ${same.flag}; omit it to use one port for both`);
  }
  if (typeof config.clickhouseCluster === 'string' && config.clickhouseUrl === undefined)
    problems.push(
      `${SETTINGS.clickhouseCluster.flag} needs ${SETTINGS.clickhouseUrl.flag}: the embedded engine has no cluster`,
    );
  const mail = [config.smtpUrl, config.smtpFrom];
  if (mail.includes(undefined) && mail.some((value) => typeof value === 'string'))
    problems.push(`${SETTINGS.smtpUrl.flag} and ${SETTINGS.smtpFrom.flag} must be set together`);
  problems.push(...listTlsProblems(config), ...listSignInProblems(config));
  return problems.length > 0 ? { problems } : { config: config as Config, texts };
}

function listTlsProblems(config: Partial<Record<SettingName, unknown>>): string[] {
  const { tlsCertFile, tlsKeyFile, tlsRedirectPort } = SETTINGS;
  const files = [config.tlsCertFile, config.tlsKeyFile];
  const isSet = (value: unknown) => typeof value === 'string';
  if (files.some(isSet) && !files.every(isSet))
    return [`${tlsCertFile.flag} and ${tlsKeyFile.flag} must be set together`];
  if (files.every(isSet) && isSet(config.publicUrl) && !/^https:/.test(String(config.publicUrl)))
    return [`${SETTINGS.publicUrl.flag} must start with https:// if ${tlsCertFile.flag} is set`];
  return typeof config.tlsRedirectPort === 'number' && !files.every(isSet)
    ? [`${tlsRedirectPort.flag} needs ${tlsCertFile.flag} and ${tlsKeyFile.flag}`]
    : [];
}

/** An identity provider needs an id for this server, and an address to send people back to. */
function listSignInProblems(config: Partial<Record<SettingName, unknown>>): string[] {
  const { oidcIssuer, oidcClientId, oidcClientSecret, publicUrl } = SETTINGS;
  const isSet = (name: SettingName) => typeof config[name] === 'string';
  if (isSet('oidcIssuer'))
    return [
      ...(isSet('oidcClientId') ? [] : [`${oidcIssuer.flag} needs ${oidcClientId.flag}`]),
      ...(isSet('publicUrl') ? [] : [`${oidcIssuer.flag} needs ${publicUrl.flag}, the address that people use`]),
    ];
  return isSet('oidcClientId') || isSet('oidcClientSecret')
    ? [`${oidcClientId.flag} and ${oidcClientSecret.flag} need ${oidcIssuer.flag}`]
    : [];
}

type Found = { text: string | undefined; place: string } | { problem: string };

/** Precedence: flag, variable, file that a variable names, config file, default. */
function findText(name: SettingName, setting: Setting, input: ConfigInput): Found {
  const { flag, variable, isSecret, fallback } = setting;
  const { flags, defaults = {}, environment, readFile } = input;
  const flagged = flags[name];
  if (flagged !== undefined) return { text: flagged, place: flag };
  const text = environment[variable];
  if (text && !(variable === 'PILOTHOUSE_PORT' && text.startsWith('tcp://'))) return { text, place: variable };
  const file = isSecret ? environment[`${variable}_FILE`] : undefined;
  if (!file) return findInFile(setting, input.file) ?? { text: defaults[name] ?? fallback, place: flag };
  try {
    return { text: readFile(file).trim(), place: `${variable}_FILE` };
  } catch (error) {
    return { problem: `${variable}_FILE cannot be read: ${(error as Error).message}` };
  }
}

const getFileName = ({ flag }: Setting): string => flag.slice(2);

function findInFile(setting: Setting, file: ConfigFile | undefined): Found | undefined {
  const name = getFileName(setting);
  if (!file || setting === SETTINGS.configFile || !Object.hasOwn(file.values, name)) return undefined;
  const value = file.values[name];
  const place = `${file.path}: ${name}`;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return { text: String(value), place };
  return { problem: `${place} must be text or a number, not ${formatKind(value)}` };
}

const formatKind = (value: unknown): string =>
  value === null ? 'empty' : Array.isArray(value) ? 'a list' : 'a mapping';

const MAX_QUOTED_CHARACTERS = 80;

/** The file may contain secrets in the wrong place, so values are not quoted. */
function listUnknownNames({ path, values }: ConfigFile): string[] {
  const known = Object.values(SETTINGS)
    .filter((setting) => setting !== SETTINGS.configFile)
    .map(getFileName);
  return Object.keys(values)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const nearest = findNearest(name.replace(/^-+/, '').replaceAll('_', '-'), known);
      return formatUnknown(`${path}: ${name.slice(0, MAX_QUOTED_CHARACTERS)}`, nearest);
    });
}

const formatProblem = (place: string, { rule, isSecret }: Setting, text: string): string =>
  `${place} ${rule}${isSecret ? '' : `, not "${text}"`}`;

/** A misspelled variable would otherwise be ignored silently. */
function listUnknownVariables(environment: ConfigInput['environment']): string[] {
  const known = Object.values(SETTINGS).flatMap(({ variable, isSecret }: Setting) =>
    isSecret ? [variable, `${variable}_FILE`] : [variable],
  );
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name) && !SERVICE_LINK.test(name))
    .map((name) => {
      const nearest = findNearest(
        name.slice(PREFIX.length),
        known.map((variable) => variable.slice(PREFIX.length)),
      );
      return formatUnknown(name, nearest && PREFIX + nearest);
    });
}

const formatUnknown = (place: string, nearest: string | undefined): string =>
  `${place} is not a known setting${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;

/** The ports that a server listens on, and the flags that set them. */
export const listPorts = (config: Pick<Config, PortName>): { port: number; flag: string }[] =>
  PORTS.flatMap((name) => {
    const port = config[name];
    return typeof port === 'number' ? [{ port, flag: SETTINGS[name].flag }] : [];
  });

const PORTS = ['port', 'dashboardPort', 'otlpPort', 'otlpGrpcPort', 'tlsRedirectPort'] as const;
type PortName = (typeof PORTS)[number];
