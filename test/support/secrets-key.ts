import { inject } from 'vitest';
import { readKeyFile } from '../../src/platform/state/secrets/key-file.ts';
import { createKeyring } from '../../src/platform/state/secrets/keyring.ts';

const VARIABLE = 'PILOTHOUSE_SECRETS_KEY_FILE';

/** The key file that all test servers and commands share, so that any of them can open any store. */
export const getSecretsKeyFile = (): string => inject('secretsKeyFile');

/** For a server or command that uses the key file in its own data directory. */
export const OWN_SECRETS_KEY = { [VARIABLE]: '' };

/** The environment of a test server or command. */
export function withSecretsKey(environment: Record<string, string> = {}): Record<string, string> {
  const { [VARIABLE]: own, ...others } = environment;
  return own === '' ? others : { ...others, [VARIABLE]: own ?? getSecretsKeyFile() };
}

/** What the store has in a place, such as a column of a row: its table, column and key. */
export const openStored = (place: readonly string[], stored: string, path = getSecretsKeyFile()): string =>
  createKeyring(path, readKeyFile(path) ?? []).open(place, stored);
