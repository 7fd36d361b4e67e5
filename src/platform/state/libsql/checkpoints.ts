import Database from 'libsql/promise';

/** A change writes half a page (in a large group) to five pages (alone): well below `WRITER_PAGES` in total. */
const CHANGES_PER_CHECKPOINT = 500;

/** At this length of the log, in pages, the writer copies the rest of it as part of its commit, and the log restarts. */
export const WRITER_PAGES = 4000;

/**
 * Copies committed pages from the write-ahead log into the database file on a thread of the driver: the copy and its syncs
 * take milliseconds, and much longer on slow disks. While changes continue, the copy never reaches the end of the log, so
 * the log grows until the writer copies the remaining pages; see `WRITER_PAGES`.
 */
export function createCheckpoints(path: string) {
  const connection = new Database(path, {});
  let running: Promise<void> | undefined;
  let changes = 0;

  async function checkpoint(): Promise<void> {
    try {
      await connection.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // The next checkpoint retries. A failing disk also fails the next change, which reports the error.
    } finally {
      running = undefined;
    }
  }

  return {
    /** Must be called after each commit. */
    countChanges(count: number): void {
      changes += count;
      if (running || changes < CHANGES_PER_CHECKPOINT) return;
      changes = 0;
      running = checkpoint();
    },
    async close(): Promise<void> {
      await running;
      connection.close();
    },
  };
}
