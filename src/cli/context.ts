import type { Actor } from '../audit/activity.ts';
import { type Config, type ConfigFile, loadConfig, type SettingTexts } from '../config.ts';
import { createDomains, type Domains } from '../domains.ts';
import { openEngine } from '../engine/open.ts';
import { systemClock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import type { Organization } from '../organizations/organization.ts';
import { openState } from '../state/open.ts';
import { type CommandContext, type ProcessAccess, UsageError } from './command.ts';
import { readConfigFile } from './config-file.ts';
import { openLogs } from './logs.ts';

interface ContextInput {
  access: ProcessAccess;
  flags: SettingTexts;
  defaults: SettingTexts | undefined;
  options: Record<string, unknown>;
  arguments: Record<string, unknown>;
}

export function createCommandContext({ access, flags, defaults = {}, ...given }: ContextInput): CommandContext {
  const { environment, readFile, userName } = access;

  let file: { read: ConfigFile | undefined } | undefined;
  const readFileOnce = (): ConfigFile | undefined => {
    file ??= { read: readConfigFile(access, flags) };
    return file.read;
  };

  function load(): { config: Config; texts: SettingTexts } {
    const loaded = loadConfig({ flags, file: readFileOnce(), defaults, environment, readFile });
    if ('problems' in loaded) throw new UsageError(loaded.problems);
    return loaded;
  }
  const readConfig = (): Config => load().config;

  async function withDomains<T>(work: (domains: Domains) => Promise<T>): Promise<T> {
    const config = readConfig();
    const { log, close } = openLogs(config);
    const engine = openEngine({ ...config, clock: systemClock, log });
    const state = await openState({ ...config, clock: systemClock });
    try {
      return await work(createDomains({ state, engine, clock: systemClock, log, config }));
    } finally {
      await engine.close();
      await state.close();
      await close();
    }
  }

  return {
    ...access,
    ...given,
    readConfig,
    readSettingTexts: () => load().texts,
    readConfigFile: readFileOnce,
    withDomains,
    withOrganization: (work) =>
      withDomains(async (domains) => {
        const { org } = given.options;
        return work(await getOrganization(domains, org as string | undefined), domains);
      }),
    actor: (program = 'cli'): Actor => ({
      type: 'system',
      id: program,
      details: `pilothouse ${program}, ${userName}`,
    }),
  };
}

/** By id or name; without either, the only organization. */
export async function getOrganization(domains: Domains, wanted: string | undefined): Promise<Organization> {
  const all = await domains.organizations.list();
  const found = all.filter(({ id, name }) => wanted === undefined || id === wanted.toLowerCase() || name === wanted);
  const [first] = found;
  if (first && found.length === 1) return first;
  if (wanted !== undefined && found.length === 0)
    throw new AppError('not_found', `organization ${wanted} does not exist`);
  if (all.length === 0)
    throw new AppError(
      'not_found',
      'No organization exists yet; create one with pilothouse init, or declare it in a fleet file',
    );
  throw new UsageError([`--org must be one of ${all.map(({ id, name }) => `${id} (${name})`).join(', ')}`]);
}
