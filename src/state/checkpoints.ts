import Database from 'libsql/promise';

/** So many pages in the log are worth a copy. */
const PAGES = 1000;

/**
 * Copies committed pages from the write-ahead log into the database file, on a thread of the driver: the copy and its
 * syncs take milliseconds on a good disk and much longer on others, and nobody waits for them. While changes go on
 * the log is never copied to its very end, so it keeps growing until the writer copies the little that is left; see
 * `WRITER_PAGES`.
 */
export function createCheckpoints(path: string) {
  const connection = new Database(path, {});
  let running: Promise<void> | undefined;
  let copied = 0;

  async function copy(): Promise<void> {
    try {
      await connection.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // Tried again some pages later, and the writer does it too: a change tells what is wrong with the disk.
    } finally {
      running = undefined;
    }
  }

  return {
    /** Called after each commit. */
    consider(pagesInLog: number): void {
      // The log has begun anew.
      if (pagesInLog < copied) copied = 0;
      if (running || pagesInLog - copied < PAGES) return;
      copied = pagesInLog;
      running = copy();
    },
    async close(): Promise<void> {
      await running;
      connection.close();
    },
  };
}

/** When the log is so long, the writer copies what is left of it as part of its commit, and the log begins anew. */
export const WRITER_PAGES = 4 * PAGES;
