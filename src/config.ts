import type { RateLimit } from './http/rate-limit.ts';
import type { Network } from './kernel/addresses.ts';
import { type LogLevel, SETTINGS, type Setting, type SettingName } from './settings.ts';

export interface Config {
  port: number;
  host: string;
  dashboardPort: number | undefined;
  /** Without a slash at its end; empty: everything stands at the root. */
  basePath: string;
  dataDirectory: string;
  databaseUrl: string | undefined;
  clickhouseUrl: string | undefined;
  engineMemoryBytes: number | undefined;
  /** `database.table` of tables that every organization may read whole. */
  openTables: string[];
  fleetFile: string | undefined;
  dashboardsDirectory: string | undefined;
  rateLimit: RateLimit | undefined;
  maxKeys: number;
  lockAfterDays: number;
  trustedProxies: Network[];
  telemetry: boolean;
  telemetryOrganization: string | undefined;
  webhookAllowPrivate: boolean;
  logLevel: LogLevel;
}

/** Kubernetes tells every container about a service named pilothouse in variables of its own: PILOTHOUSE_PORT=tcp://… and these. */
const SERVICE_LINK = /^PILOTHOUSE_(SERVICE_|PORT_\d)/;

interface Sources {
  /** By setting; what the command line says. */
  flags: Partial<Record<SettingName, string>>;
  environment: Record<string, string | undefined>;
  /** Reads `<variable>_FILE`. */
  readFile(path: string): string;
}

/** Every mistake at once, before anything is opened. */
export function loadConfig({ flags, environment, readFile }: Sources): { config: Config } | { mistakes: string[] } {
  const mistakes: string[] = [];
  const values = Object.entries(SETTINGS).map(([name, setting]: [string, Setting]) => {
    const found = textOf(name as SettingName, setting);
    if (!found) return [name, undefined];
    const value = setting.parse(found.text);
    if (value === undefined)
      mistakes.push(`${found.place} ${setting.rule}${setting.isSecret ? '' : `, not "${found.text}"`}`);
    return [name, value];
  });
  refuseUnknownVariables();
  const { port, dashboardPort } = Object.fromEntries(values) as Partial<Config>;
  if (port && port === dashboardPort)
    mistakes.push('--dashboard-port must differ from --port; leave it out to serve both on one');
  if (mistakes.length > 0) return { mistakes };
  const config = Object.fromEntries(values) as Config;
  return { config: { ...config, rateLimit: config.rateLimit?.requests === 0 ? undefined : config.rateLimit } };

  /** Flag before variable before file before default. */
  function textOf(
    name: SettingName,
    { flag, variable, isSecret, fallback }: Setting,
  ): { text: string; place: string } | undefined {
    const flagged = flags[name];
    if (flagged !== undefined) return { text: flagged, place: flag };
    const text = environment[variable];
    if (text !== undefined && text !== '' && !(variable === 'PILOTHOUSE_PORT' && text.startsWith('tcp://')))
      return { text, place: variable };
    const file = isSecret ? environment[`${variable}_FILE`] : undefined;
    if (file) {
      try {
        return { text: readFile(file).trim(), place: `${variable}_FILE` };
      } catch (error) {
        mistakes.push(`${variable}_FILE cannot be read: ${(error as Error).message}`);
        return undefined;
      }
    }
    return fallback === undefined ? undefined : { text: fallback, place: flag };
  }

  /** A misspelt variable would otherwise be a setting that silently does nothing. */
  function refuseUnknownVariables(): void {
    const known = new Set(
      Object.values(SETTINGS).flatMap(({ variable, isSecret }: Setting) =>
        isSecret ? [variable, `${variable}_FILE`] : [variable],
      ),
    );
    for (const name of Object.keys(environment)) {
      if (name.startsWith('PILOTHOUSE_') && !known.has(name) && !SERVICE_LINK.test(name))
        mistakes.push(`${name} is not a setting of this version`);
    }
  }
}
