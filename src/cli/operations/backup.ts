import { plural } from '../../kernel/text.ts';
import { backUp, formatMebibytes } from '../../operations/backup/backup.ts';
import { withServices } from '../../operations/backup/services.ts';
import { VERSION } from '../../server/version.ts';
import { defineCommand } from '../command.ts';
import { argument, flag, jsonOption } from '../parameters.ts';
import { COPY_SETTINGS, getServicePlaces, runCopy, sumRows } from './copy.ts';

export const backup = defineCommand({
  name: 'backup',
  summary: 'Write the store and the engine to one file; a server may be running',
  settings: COPY_SETTINGS,
  defaults: { logLevel: 'warn' },
  arguments: { file: argument('<file>', 'File to write; readable by its owner only') },
  options: {
    force: flag('Replace an existing file'),
    withServices: flag('Copy the newest backup of each embedded service of this node to the folder <file>.services'),
    json: jsonOption,
  },
  async run(context) {
    const { file } = context.arguments;
    const { force, withServices: isWithServices } = context.options;
    const places = getServicePlaces(context);
    const { result, services } = await runCopy(context, async (copy) => {
      const write = () => backUp({ ...copy, file, force, version: VERSION });
      if (!isWithServices) return { result: await write(), services: undefined };
      return withServices({ ...copy, ...places, file, force }, write);
    });
    const { bytes, sha256, tables } = result;
    return {
      json: { file, bytes, sha256, tables, ...(services !== undefined && { services }) },
      lines: [
        `Backed up ${sumRows(tables, 'state')} rows of the store and ${sumRows(tables, 'engine')} rows of the engine to ${file} (${formatMebibytes(bytes)}).`,
        ...(services === undefined
          ? []
          : [`Copied the newest backups of ${plural(services, 'service')} to ${file}.services.`]),
      ],
    };
  },
});
