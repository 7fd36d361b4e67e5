import { parseYamlOrJson } from '../../kernel/schemas/yaml-text.ts';
import type { ConfigFile, SettingTexts } from '../../server/settings/config.ts';
import { SETTINGS, type Setting } from '../../server/settings/settings.ts';
import type { ProcessAccess } from '../command.ts';

const MAX_BYTES = 1024 * 1024;

/** Reads the file that `--config` or its variable names. A file that cannot be used has problems. */
export function readConfigFile(
  { environment, readFile }: Pick<ProcessAccess, 'environment' | 'readFile'>,
  flags: SettingTexts,
): ConfigFile | undefined {
  const path = flags.configFile ?? environment[SETTINGS.configFile.variable];
  if (!path) return undefined;
  const reject = (problem: string): ConfigFile => ({ path, values: {}, problems: [problem] });
  let text: string;
  try {
    text = readFile(path, MAX_BYTES);
  } catch (error) {
    return reject(`${path} cannot be read: ${(error as Error).message}`);
  }
  try {
    const values = parseYamlOrJson(text, path) ?? {};
    if (typeof values === 'object' && !Array.isArray(values))
      return { path, values: values as ConfigFile['values'], problems: [] };
    return reject(`${path} must contain settings, one per line, such as "port: 8080"`);
  } catch (error) {
    return reject((error as Error).message);
  }
}

const READABLE_BY_OTHERS = 0o004;

/** A warning if users other than the owner and the group can read secrets in the file. */
export function findExposedSecrets(
  { path, values }: ConfigFile,
  { readFileMode }: Pick<ProcessAccess, 'readFileMode'>,
): string | undefined {
  const secrets = Object.values(SETTINGS).flatMap(({ flag, isSecret }: Setting) =>
    isSecret && Object.hasOwn(values, flag.slice(2)) ? [flag.slice(2)] : [],
  );
  if (secrets.length === 0 || (readFileMode(path) & READABLE_BY_OTHERS) === 0) return undefined;
  return `${path} contains ${secrets.join(' and ')} and every user of this machine can read it; run chmod o-r ${path}`;
}
