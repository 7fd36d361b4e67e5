import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../../kernel/errors.ts';
import { explainSize, listWritten } from './file-list.ts';
import { listFiles, readChunks } from './manifest.ts';
import { NAMES } from './storage.ts';

/** Throws unless a folder has all files of ClickHouse's list, in full. */
export async function rejectIncomplete(folder: string): Promise<void> {
  const paths = new Set(await listFiles(folder));
  const written = listWritten(paths.has(NAMES.list) ? await readText(join(folder, NAMES.list)) : '');
  if (!written) throw incomplete('its list of files was cut off');
  for (const [path, bytes] of written) {
    const found = paths.has(path) ? (await lstat(join(folder, path))).size : undefined;
    const reason = explainSize(path, found, bytes);
    if (reason !== undefined) throw incomplete(reason);
  }
}

async function readText(path: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of readChunks(path)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

const incomplete = (reason: string): AppError =>
  new AppError(
    'unavailable',
    `ClickHouse did not write the whole backup: ${reason}. There may be no space on the disk of the service`,
  );
