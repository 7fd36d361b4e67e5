import type { Logger } from 'pino';
import { AppError } from '../kernel/errors.ts';
import { systemClock } from '../kernel/time/clock.ts';
import type { Actor } from '../management/audit/activity.ts';
import type { Organization } from '../management/organizations/organization.ts';
import { settleInterruptedRestore } from '../operations/backup/interrupted-restore.ts';
import { openEngine } from '../platform/engine/open.ts';
import { openState } from '../platform/state/open.ts';
import type { State } from '../platform/state/state.ts';
import { createDomains, type Domains } from '../server/domains.ts';
import { type Config, type ConfigFile, loadConfig, type SettingTexts } from '../server/settings/config.ts';
import { type Api, type CommandContext, type ProcessAccess, UsageError } from './command.ts';
import { connectToServer, createApi } from './connection/api.ts';
import { readConfigFile } from './connection/config-file.ts';
import { findAddress, findServer } from './connection/connection.ts';
import { openLogs } from './server/logs.ts';

interface ContextInput {
  access: ProcessAccess;
  flags: SettingTexts;
  defaults: SettingTexts | undefined;
  mayCreateStore: boolean;
  options: Record<string, unknown>;
  arguments: Record<string, unknown>;
}

export function createCommandContext({
  access,
  flags,
  defaults = {},
  mayCreateStore: mayCreate,
  ...given
}: ContextInput): CommandContext {
  const { environment, readFile, userName } = access;
  const { org } = given.options as { org?: string };

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

  const actor = (program = 'cli'): Actor => ({
    type: 'system',
    id: program,
    details: `pilothouse ${program}, ${userName}`,
  });

  async function withStore<T>(work: (store: OpenStore) => Promise<T>): Promise<T> {
    const config = readConfig();
    const { log, close } = openLogs(config);
    await settleInterruptedRestore(config, log);
    const engine = openEngine({ ...config, clock: systemClock, log });
    try {
      const state = await openState({ ...config, clock: systemClock, mayCreate });
      try {
        return await work({ state, log, domains: createDomains({ state, engine, clock: systemClock, log, config }) });
      } finally {
        await state.close();
      }
    } finally {
      await engine.close();
      await close();
    }
  }

  const withDomains = <T>(work: (domains: Domains) => Promise<T>): Promise<T> =>
    withStore(({ domains }) => work(domains));

  const withLocalApi = <T>(work: (api: Api) => Promise<T>): Promise<T> =>
    withStore(async (store) => {
      const organization = await getOrganization(store.domains, org);
      // Loaded only here: most of the program is behind it.
      const { openLocalApi } = await import('../server/local-api.ts');
      const local = openLocalApi({ ...store, config: readConfig(), actor: actor() });
      try {
        return await work(createApi(local.send, organization));
      } finally {
        await local.close();
      }
    });

  const getGiven = () => ({ access, flags, file: readFileOnce(), config: readConfig() });
  const findRemote = () => findServer(getGiven());

  return {
    ...access,
    ...given,
    readConfig,
    readSettingTexts: () => load().texts,
    readConfigFile: readFileOnce,
    findServer: findRemote,
    findAddress: () => findAddress(getGiven()),
    withDomains,
    withOrganization: (work) => withDomains(async (domains) => work(await getOrganization(domains, org), domains)),
    async withApi(work) {
      const server = await findRemote();
      if (!server) return withLocalApi(work);
      const { api } = await connectToServer(server);
      const { id, name } = api.organization;
      if (org !== undefined && org.toLowerCase() !== id && org !== name)
        throw new AppError('not_found', `The key belongs to the organization ${name} (${id}), not to ${org}`);
      return work(api);
    },
    actor,
  };
}

interface OpenStore {
  state: State;
  log: Logger;
  domains: Domains;
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
