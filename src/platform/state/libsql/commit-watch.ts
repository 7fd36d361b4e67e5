import type { Database } from 'libsql';

interface CommitWatch {
  /** Whether any process has committed since the last call. */
  hasChanged(): boolean;
  /** Must be called after each commit of this process. */
  invalidate(): void;
}

/**
 * Detects commits by any process that has the file open. `PRAGMA data_version` takes a few microseconds, so it runs at most
 * once per turn of the event loop: the requests of a turn were sent before it started, so they never read a row older than
 * themselves. A commit of this process can be read in the same turn, so it invalidates the result.
 */
export function watchCommits(connection: Database): CommitWatch {
  const version = connection.prepare('PRAGMA data_version').raw();
  let lastVersion: unknown;
  let isCurrent = false;
  const invalidate = () => {
    isCurrent = false;
  };
  return {
    invalidate,
    hasChanged() {
      if (isCurrent) return false;
      isCurrent = true;
      setImmediate(invalidate);
      const [current] = version.get() as unknown[];
      if (current === lastVersion) return false;
      lastVersion = current;
      return true;
    },
  };
}
