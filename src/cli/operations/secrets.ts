import { plural } from '../../kernel/text.ts';
import type { RotationStage } from '../../platform/state/secrets/rotation.ts';
import { STORE_SETTINGS } from '../../server/settings/settings.ts';
import { defineCommand, UsageError } from '../command.ts';
import { flag, jsonOption } from '../parameters.ts';

/** Servers may be running: they read the key file again. */
export const rotateSecrets = defineCommand({
  name: 'secrets rotate',
  summary: 'Replace the key that encrypts secrets in the store, also while servers run',
  settings: STORE_SETTINGS,
  options: {
    addOnly: flag('Only add a key to the file, which encrypts nothing yet: for several nodes, the first step'),
    keepOld: flag('Keep the old keys in the file: for several nodes, the second step'),
    json: jsonOption,
  },
  async run({ withDomains, options: { addOnly, keepOld } }) {
    if (addOnly && keepOld) throw new UsageError(['--add-only and --keep-old are different steps; use one of them']);
    const stage: RotationStage = addOnly ? 'add' : keepOld ? 'keep' : 'finish';
    const { path, ...rotation } = await withDomains((domains) => domains.rotateSecrets(stage));
    const { keyId, rows, removedKeyIds } = rotation;
    const done = `${plural(rows, 'row')} were encrypted with the key ${keyId}, which is the first one in ${path}.`;
    const lines = {
      add: [
        `The key ${keyId} was added to ${path}. Copy the file to all nodes, then run this command with --keep-old.`,
      ],
      keep: [
        done,
        'Copy the file to all nodes, then run this command again without --keep-old to remove the old keys.',
      ],
      finish: [
        done,
        `Removed from the file: ${removedKeyIds.length === 0 ? 'nothing' : removedKeyIds.join(', ')}. Copy the file to where you keep it, and to all nodes.`,
      ],
    }[stage];
    return { json: { path, ...rotation }, lines };
  },
});
