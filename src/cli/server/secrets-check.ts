import { isReadableByOthers } from '../../platform/state/secrets/key-file.ts';
import { inspectSecrets } from '../../platform/state/secrets/open-secrets.ts';
import type { State } from '../../platform/state/state.ts';
import { type CheckResult, fail, pass } from './check-result.ts';

const CHECK = 'secrets';

/** The store could be opened, so the key file has its keys. */
export async function checkSecrets(state: State): Promise<CheckResult[]> {
  const { path, keyId, isRotating, hasPlainText } = await inspectSecrets(state);
  const results: CheckResult[] = [];
  if (isReadableByOthers(path))
    results.push(fail(CHECK, `all users of this machine can read ${path}`, `Protect the key file: chmod 600 ${path}`));
  if (hasPlainText)
    results.push(
      fail(
        CHECK,
        'what an earlier version stored in plain text may still be in the files of the store',
        'Free as much disk space as the store has, then restart the server: it writes the store anew',
      ),
    );
  if (isRotating)
    results.push(fail(CHECK, 'a rotation of the key is not complete', 'Run pilothouse secrets rotate to complete it'));
  return results.length > 0 ? results : [pass(CHECK, `encrypted with the key ${keyId} in ${path}`)];
}

/** Of a store that cannot be opened without its key file. */
export const KEY_FILE_REMEDY =
  'Copy the key file of a server that used this store before to the place that the message names, or set --secrets-key-file';
