import { join } from 'node:path';
import { stringify } from 'yaml';
import { parseYamlOrJson } from '../../kernel/schemas/yaml-text.ts';
import { type ProcessAccess, type ServerAddress, UsageError } from '../command.ts';

/** The servers that a user works with. */
export interface ProfileFile {
  path: string;
  /** Used by commands without `--profile`. */
  current: string | undefined;
  profiles: Map<string, ServerAddress>;
}

type Access = Pick<ProcessAccess, 'environment' | 'readFile' | 'readFileMode'>;

const MAX_BYTES = 1024 * 1024;
const OTHERS = 0o077;
export const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** In the user's configuration directory; undefined if there is no such directory. */
function findPath({ XDG_CONFIG_HOME, HOME, APPDATA }: ProcessAccess['environment']): string | undefined {
  const directory = XDG_CONFIG_HOME || (HOME ? join(HOME, '.config') : APPDATA);
  return directory ? join(directory, 'pilothouse', 'config.yaml') : undefined;
}

/** Undefined if the user has no home directory, as in some containers. A file that does not exist has no profiles. */
export function readProfiles(access: Access): ProfileFile | undefined {
  const path = findPath(access.environment);
  if (path === undefined) return undefined;
  let text: string;
  try {
    text = access.readFile(path, MAX_BYTES);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { path, current: undefined, profiles: new Map() };
    throw new UsageError([`${path} cannot be read: ${(error as Error).message}`]);
  }
  if ((access.readFileMode(path) & OTHERS) !== 0)
    throw new UsageError([`${path} contains keys and other users can read it; run chmod 600 ${path}`]);
  return { path, ...parseProfiles(text, path) };
}

function parseProfiles(text: string, path: string): Omit<ProfileFile, 'path'> {
  const file = (parseYamlOrJson(text, path) ?? {}) as { current?: unknown; profiles?: Record<string, unknown> };
  const profiles = new Map<string, ServerAddress>();
  for (const [name, profile] of Object.entries(file.profiles ?? {})) {
    const { url, key } = (profile ?? {}) as Partial<Record<keyof ServerAddress, unknown>>;
    if (typeof url !== 'string' || typeof key !== 'string')
      throw new UsageError([`${path}: profiles.${name} must have url and key`]);
    profiles.set(name, { url, key });
  }
  return { current: typeof file.current === 'string' ? file.current : undefined, profiles };
}

export function writeProfiles({ writePrivateFile }: ProcessAccess, { path, current, profiles }: ProfileFile): void {
  writePrivateFile(path, stringify({ current, profiles: Object.fromEntries(profiles) }));
}

/** The profile with this name, or the current one. */
export function findProfile(file: ProfileFile | undefined, wanted: string | undefined): ServerAddress | undefined {
  const name = wanted ?? file?.current;
  if (name === undefined) return undefined;
  const profile = file?.profiles.get(name);
  if (profile) return profile;
  const known = [...(file?.profiles.keys() ?? [])].join(', ') || 'none';
  throw new UsageError([`there is no profile ${name}; profiles in ${file?.path ?? 'the home directory'}: ${known}`]);
}
