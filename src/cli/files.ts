import { createReadStream, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import type { ProcessAccess } from './command.ts';

const READ_CHUNK_BYTES = 1024 * 1024;

export const readFile: ProcessAccess['readFile'] = (path) => readFileSync(path, 'utf8');

export const writeFile: ProcessAccess['writeFile'] = (path, text) => writeFileSync(path, text);

export const openFile: ProcessAccess['openFile'] = (path) => {
  const fd = openSync(path, 'r');
  return { bytes: fstatSync(fd).size, chunks: createReadStream(path, { fd, highWaterMark: READ_CHUNK_BYTES }) };
};
