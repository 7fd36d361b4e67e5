import type { Config, ConfigFile, SettingTexts } from '../../server/settings/config.ts';
import { SETTINGS, type Setting, type SettingName } from '../../server/settings/settings.ts';
import { type OptionalKey, type ProcessAccess, type ServerAddress, UsageError } from '../command.ts';
import { findProfile, readProfiles } from './profile-file.ts';

const STORE: readonly SettingName[] = ['dataDirectory', 'databaseUrl'];

interface Given {
  access: ProcessAccess;
  flags: SettingTexts;
  file: ConfigFile | undefined;
  config: Config;
}

/** As `findAddress`. Asks for a missing key if there is a terminal. */
export async function findServer(given: Given): Promise<ServerAddress | undefined> {
  const address = findAddress(given);
  return address && { url: address.url, key: address.key ?? (await askForKey(given.access, address.url)) };
}

/**
 * The server that a command uses; undefined for the store on this machine. Flags take precedence over the environment,
 * the environment over the config file, and all of them over the current profile.
 */
export function findAddress({ access, flags, file, config }: Given): OptionalKey | undefined {
  const isFlagged = (name: SettingName) => flags[name] !== undefined;
  rejectTwoPlaces(isFlagged);
  const { environment } = access;
  const levels: ((name: SettingName) => boolean)[] = [
    isFlagged,
    (name) => Boolean(environment[SETTINGS[name].variable] || environment[`${SETTINGS[name].variable}_FILE`]),
    (name) => Object.hasOwn(file?.values ?? {}, SETTINGS[name].flag.slice(2)),
  ];
  for (const isGiven of levels) {
    if (isGiven('serverUrl')) return { url: config.serverUrl ?? '', key: config.serverKey };
    if (isGiven('profile')) break;
    if (STORE.some(isGiven)) return undefined;
  }
  const profile = findProfile(readProfiles(access), config.profile);
  // A key of the environment is for the URL of the environment, and is not sent to the server of a profile.
  return profile && { url: profile.url, key: flags.serverKey ?? profile.key };
}

function rejectTwoPlaces(isFlagged: (name: SettingName) => boolean): void {
  const names: SettingName[] = ['serverUrl', 'profile', ...STORE];
  const [first, second] = names.filter(isFlagged);
  if (first && second && !STORE.includes(first))
    throw new UsageError([`${SETTINGS[first].flag} and ${SETTINGS[second].flag} cannot be used together`]);
}

async function askForKey({ readSecret }: ProcessAccess, url: string): Promise<string> {
  const { parse, rule }: Setting = SETTINGS.serverKey;
  const key = await readSecret(`API key for ${url} (id:secret): `);
  if (key === undefined)
    throw new UsageError([`the key for ${url} is missing: use --key-file, PILOTHOUSE_KEY or a profile`]);
  if (parse(key) !== key) throw new UsageError([`the key ${rule}`]);
  return key;
}
