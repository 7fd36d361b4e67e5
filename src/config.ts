import { INVALID, SETTINGS, type Setting, type SettingName } from './settings.ts';

type Parsed<S> = S extends { parse(text: string): infer T } ? Exclude<T, typeof INVALID> : never;
type SettingValue<S> = S extends { fallback: string } ? Parsed<S> : Parsed<S> | undefined;

/** The parsed value of every setting. */
export type Config = { -readonly [Name in SettingName]: SettingValue<(typeof SETTINGS)[Name]> };

export type SettingTexts = Partial<Record<SettingName, string>>;

/** Kubernetes injects these variables for a service named pilothouse, and PILOTHOUSE_PORT=tcp://… */
const SERVICE_LINK = /^PILOTHOUSE_(SERVICE_|PORT_\d)/;

interface ConfigInput {
  flags: SettingTexts;
  /** Replace the defaults of `SETTINGS`. */
  defaults?: SettingTexts;
  environment: Record<string, string | undefined>;
  /** Reads the file that `<variable>_FILE` names. */
  readFile(path: string): string;
}

/** Reports all problems at once, before anything is opened. */
export function loadConfig(input: ConfigInput): { config: Config } | { problems: string[] } {
  const problems: string[] = [];
  const config: Partial<Record<SettingName, unknown>> = {};
  for (const [name, setting] of Object.entries(SETTINGS) as [SettingName, Setting][]) {
    const found = findText(name, setting, input);
    if ('problem' in found) problems.push(found.problem);
    else if (found.text !== undefined) {
      const value = setting.parse(found.text);
      if (value === INVALID) problems.push(formatProblem(found.place, setting, found.text));
      config[name] = value;
    } else config[name] = undefined;
  }
  problems.push(...listUnknownVariables(input.environment).map((name) => `${name} is not a known setting`));
  if (typeof config.port === 'number' && config.port !== 0 && config.port === config.dashboardPort)
    problems.push('--dashboard-port must differ from --port; omit it to use one port for both');
  return problems.length > 0 ? { problems } : { config: config as Config };
}

/** Precedence: flag, variable, file, default. */
function findText(
  name: SettingName,
  { flag, variable, isSecret, fallback }: Setting,
  { flags, defaults = {}, environment, readFile }: ConfigInput,
): { text: string | undefined; place: string } | { problem: string } {
  const flagged = flags[name];
  if (flagged !== undefined) return { text: flagged, place: flag };
  const text = environment[variable];
  if (text && !(variable === 'PILOTHOUSE_PORT' && text.startsWith('tcp://'))) return { text, place: variable };
  const file = isSecret ? environment[`${variable}_FILE`] : undefined;
  if (!file) return { text: defaults[name] ?? fallback, place: flag };
  try {
    return { text: readFile(file).trim(), place: `${variable}_FILE` };
  } catch (error) {
    return { problem: `${variable}_FILE cannot be read: ${(error as Error).message}` };
  }
}

const formatProblem = (place: string, { rule, isSecret }: Setting, text: string): string =>
  `${place} ${rule}${isSecret ? '' : `, not "${text}"`}`;

/** A misspelled variable would otherwise be ignored silently. */
function listUnknownVariables(environment: ConfigInput['environment']): string[] {
  const known = new Set<string>(
    Object.values(SETTINGS).flatMap(({ variable, isSecret }: Setting) =>
      isSecret ? [variable, `${variable}_FILE`] : [variable],
    ),
  );
  return Object.keys(environment).filter(
    (name) => name.startsWith('PILOTHOUSE_') && !known.has(name) && !SERVICE_LINK.test(name),
  );
}
