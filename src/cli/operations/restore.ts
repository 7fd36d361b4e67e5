import { plural } from '../../kernel/text.ts';
import { restore } from '../../operations/backup/restore.ts';
import { restoreWithServices } from '../../operations/backup/services.ts';
import { defineCommand } from '../command.ts';
import { argument, flag, jsonOption } from '../parameters.ts';
import { COPY_SETTINGS, getServicePlaces, runCopy, sumRows } from './copy.ts';

export const restoreBackup = defineCommand({
  name: 'restore',
  summary: 'Replace the store and the engine with a backup; no server may be running',
  settings: COPY_SETTINGS,
  defaults: { logLevel: 'warn' },
  arguments: { file: argument('<file>', 'File that pilothouse backup wrote') },
  options: {
    force: flag('Replace a store and an engine that are not empty'),
    withServices: flag(
      'Also restore the services in the folder <file>.services; a service that has data here keeps it',
    ),
    json: jsonOption,
  },
  async run(context) {
    const { file } = context.arguments;
    const { force, withServices: isWithServices } = context.options;
    const places = getServicePlaces(context);
    const { result, services } = await runCopy(context, async (copy) => {
      const replace = () => restore({ ...copy, file, force });
      if (!isWithServices) return { result: await replace(), services: undefined };
      const { result, ...services } = await restoreWithServices({ ...copy, ...places, file }, replace);
      return { result, services };
    });
    const { header, tables } = result;
    const { createdAt, version } = header;
    return {
      json: { file, createdAt, version, tables, ...(services && { services }) },
      lines: [
        `Restored ${sumRows(tables, 'state')} rows of the store and ${sumRows(tables, 'engine')} rows of the engine from ${file}, made on ${createdAt} by Pilothouse ${version}.`,
        'Usage that is newer than the state in the backup is rated when the server starts.',
        ...(services ? formatServices(services) : []),
      ],
    };
  },
});

function formatServices({ restored, kept }: { restored: string[]; kept: string[] }): string[] {
  const lines = [
    `The data of ${plural(restored.length, 'service')} is restored when ${restored.length === 1 ? 'it starts' : 'they start'}.`,
  ];
  if (kept.length > 0) lines.push(`These services have data here and keep it: ${kept.join(', ')}.`);
  return lines;
}
