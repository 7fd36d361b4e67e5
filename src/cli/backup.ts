import { backUp, formatMebibytes } from '../operations/backup/backup.ts';
import { ENGINE_SETTINGS } from '../server/settings/settings.ts';
import { VERSION } from '../server/version.ts';
import { defineCommand } from './command.ts';
import { runCopy, sumRows } from './copy.ts';
import { argument, flag, jsonOption } from './parameters.ts';

export const backup = defineCommand({
  name: 'backup',
  summary: 'Write the store and the engine to one file; a server may be running',
  settings: ENGINE_SETTINGS,
  defaults: { logLevel: 'warn' },
  arguments: { file: argument('<file>', 'File to write; readable by its owner only') },
  options: { force: flag('Replace an existing file'), json: jsonOption },
  async run(context) {
    const { file } = context.arguments;
    const { force } = context.options;
    const result = await runCopy(context, (copy) => backUp({ ...copy, file, force, version: VERSION }));
    const { bytes, sha256, tables } = result;
    return {
      json: { file, bytes, sha256, tables },
      lines: [
        `Backed up ${sumRows(tables, 'state')} rows of the store and ${sumRows(tables, 'engine')} rows of the engine to ${file} (${formatMebibytes(bytes)}).`,
      ],
    };
  },
});
