import { restore } from '../operations/backup/restore.ts';
import { ENGINE_SETTINGS } from '../server/settings/settings.ts';
import { defineCommand } from './command.ts';
import { runCopy, sumRows } from './copy.ts';
import { argument, flag, jsonOption } from './parameters.ts';

export const restoreBackup = defineCommand({
  name: 'restore',
  summary: 'Replace the store and the engine with a backup; no server may be running',
  settings: ENGINE_SETTINGS,
  defaults: { logLevel: 'warn' },
  arguments: { file: argument('<file>', 'File that pilothouse backup wrote') },
  options: { force: flag('Replace a store and an engine that are not empty'), json: jsonOption },
  async run(context) {
    const { file } = context.arguments;
    const { force } = context.options;
    const { header, tables } = await runCopy(context, (copy) => restore({ ...copy, file, force }));
    const { createdAt, version } = header;
    return {
      json: { file, createdAt, version, tables },
      lines: [
        `Restored ${sumRows(tables, 'state')} rows of the store and ${sumRows(tables, 'engine')} rows of the engine from ${file}, made on ${createdAt} by Pilothouse ${version}.`,
        'Usage that is newer than the state in the backup is rated when the server starts.',
      ],
    };
  },
});
