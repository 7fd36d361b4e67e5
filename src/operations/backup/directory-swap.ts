import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** Replaces the directory of the embedded engine, after the new one is complete. */
export interface DirectorySwap {
  /** The data directory in which the new engine is created. */
  directory: string;
  /** Creates the directory. That of an earlier attempt must have been settled. */
  prepare(): void;
  /** Puts the new engine in place. May be called again. */
  apply(): void;
}

/** A restore that ended before its end. */
interface InterruptedSwap {
  directory: string;
  /** Left out if the engine was not being replaced yet. */
  id?: string;
  /** An engine that cannot be distinguished from the one in use: a version without notes was interrupted. */
  unknownEngine?: string;
}

/** Written before the first rename. */
interface Note {
  id: string;
  /** Whether there was an engine to replace. */
  hadEngine: boolean;
}

const listPaths = (dataDirectory: string) => {
  const directory = join(dataDirectory, 'restoring');
  return {
    directory,
    current: join(dataDirectory, 'engine'),
    next: join(directory, 'engine'),
    previous: join(directory, 'replaced'),
    note: join(directory, 'note.json'),
  };
};

export function createDirectorySwap(dataDirectory: string, id: string): DirectorySwap {
  const { directory, current, next, previous, note } = listPaths(dataDirectory);
  let isApplied = false;
  return {
    directory,
    prepare: () => void mkdirSync(directory, { recursive: true, mode: 0o700 }),
    apply() {
      if (isApplied) return;
      isApplied = true;
      writeNote(note, { id, hadEngine: existsSync(current) });
      sync(directory);
      move(current, previous);
      move(next, current);
      sync(directory);
      // The state must not be committed before the new engine is in place on the disk.
      sync(dataDirectory);
    },
  };
}

/** Undefined if no restore was interrupted. */
export function findInterruptedSwap(dataDirectory: string): InterruptedSwap | undefined {
  const { directory, current, previous, note } = listPaths(dataDirectory);
  if (!existsSync(directory)) return undefined;
  const id = readNote(note)?.id;
  if (id !== undefined) return { directory, id };
  return { directory, ...(existsSync(previous) && existsSync(current) && { unknownEngine: previous }) };
}

/**
 * Keeps the new engine if the state that belongs to it was committed, and puts the old one back otherwise. May be
 * interrupted and called again.
 */
export function settleSwap(dataDirectory: string, isCommitted: boolean): void {
  const { directory, current, next, previous, note: path } = listPaths(dataDirectory);
  const note = readNote(path);
  if (!note) {
    if (!existsSync(current)) move(previous, current);
  } else if (!isCommitted) {
    putBack(note, listPaths(dataDirectory));
  } else if (existsSync(next)) {
    // The renames were lost with the power although they had been synchronized.
    move(current, previous);
    move(next, current);
  }
  sync(dataDirectory);
  for (const part of [next, previous]) remove(part);
  // With the note, which is needed until here.
  remove(directory);
}

function putBack({ hadEngine }: Note, { current, next, previous }: ReturnType<typeof listPaths>): void {
  const isNewInPlace = hadEngine ? existsSync(previous) : !existsSync(next);
  if (isNewInPlace) remove(current);
  move(previous, current);
}

/** The engine process of a restore that was killed may still write for a moment. */
const RETRIES = { maxRetries: 10, retryDelay: 100 };
const remove = (path: string) => rmSync(path, { recursive: true, force: true, ...RETRIES });

function move(from: string, to: string): void {
  if (existsSync(from)) renameSync(from, to);
}

/** Replaces the file at once. */
function writeNote(path: string, note: Note): void {
  const temporary = `${path}.partial`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    writeSync(file, JSON.stringify(note));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}

function readNote(path: string): Note | undefined {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Note) : undefined;
}

/** Writes the names in a directory to the disk. */
function sync(directory: string): void {
  const opened = openSync(directory, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
