import { openSync, readSync } from 'node:fs';
import type { Database } from 'libsql';

/** SQLite's WAL-index begins with a header of this size; every commit, by whichever process, rewrites it. */
const HEADER_BYTES = 48;

/**
 * «Has anybody committed since I asked last?» Reading the header of the WAL-index takes less than a microsecond, a
 * fifth of `PRAGMA data_version`, which asks the same question and is used where the header cannot be read. A header
 * that is caught half-written looks like a change, which is the safe answer.
 */
export function watchCommits(path: string, connection: Database): CommitWatch {
  return oncePerTurn(commitsSeen(path, connection));
}

export interface CommitWatch {
  hasChanged(): boolean;
  /** Called by whoever commits here. */
  lookAgain(): void;
}

/**
 * The file is looked at once in a turn of the event loop: the requests of a turn were sent before it began, so what they
 * see is never older than they are. A commit of our own may be read in the same turn, so it makes us look again.
 */
function oncePerTurn(hasChanged: () => boolean): CommitWatch {
  let isSeen = false;
  const lookAgain = () => {
    isSeen = false;
  };
  return {
    lookAgain,
    hasChanged() {
      if (isSeen) return false;
      isSeen = true;
      setImmediate(lookAgain);
      return hasChanged();
    },
  };
}

function commitsSeen(path: string, connection: Database): () => boolean {
  // The file is there once the connection has read something, and stays as long as the connection does.
  const version = connection.prepare('PRAGMA data_version').raw();
  version.get();
  try {
    // Never closed while the process lives: closing any descriptor of a file drops the locks that SQLite holds on it.
    const file = openSync(`${path}-shm`, 'r');
    let [seen, now] = [Buffer.alloc(HEADER_BYTES), Buffer.alloc(HEADER_BYTES)];
    return () => {
      if (!isRead(file, now)) return true;
      if (now.equals(seen)) return false;
      [seen, now] = [now, seen];
      return true;
    };
  } catch {
    let seen: unknown;
    return () => {
      const [now] = version.get() as unknown[];
      if (now === seen) return false;
      seen = now;
      return true;
    };
  }
}

function isRead(file: number, header: Buffer): boolean {
  try {
    return readSync(file, header, 0, HEADER_BYTES, 0) === HEADER_BYTES;
  } catch {
    return false;
  }
}
