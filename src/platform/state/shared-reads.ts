/** Returns the first row of each read, in the order of `reads`; undefined where there is none. */
type ReadRows = (text: string, reads: readonly (readonly unknown[])[]) => Promise<readonly unknown[]>;

interface Waiting {
  values: readonly unknown[];
  row: Promise<unknown>;
  resolve(row: unknown): void;
  reject(error: unknown): void;
}

interface Statement {
  running: number;
  /** The waiting reads start at the end of this turn of the event loop. */
  isScheduled: boolean;
  /** By their values. */
  waiting: Map<string, Waiting>;
}

/** More statements at the same time would each read fewer rows. */
const MAX_RUNNING = 2;
const MAX_ROWS = 64;

/**
 * Reads single rows. Reads with the same SQL that are requested in one turn of the event loop, or while statements run,
 * share one statement; those with the same values share a row. A read starts after its callers requested it, so no caller
 * gets data older than its call.
 */
export function createSharedReads(readRows: ReadRows) {
  const statements = new Map<string, Statement>();

  async function run(text: string, statement: Statement, reads: readonly Waiting[]): Promise<void> {
    statement.running++;
    try {
      const rows = await readRows(
        text,
        reads.map(({ values }) => values),
      );
      for (const [index, read] of reads.entries()) read.resolve(rows[index]);
    } catch (error) {
      for (const read of reads) read.reject(error);
    }
    statement.running--;
    startWaiting(text, statement);
  }

  function startWaiting(text: string, statement: Statement): void {
    const { waiting } = statement;
    while (waiting.size > 0 && statement.running < MAX_RUNNING) {
      const reads = [...waiting].slice(0, MAX_ROWS);
      for (const [key] of reads) waiting.delete(key);
      void run(
        text,
        statement,
        reads.map(([, read]) => read),
      );
    }
    if (statement.running === 0 && !statement.isScheduled) statements.delete(text);
  }

  function schedule(text: string, statement: Statement): void {
    if (statement.isScheduled || statement.running >= MAX_RUNNING) return;
    statement.isScheduled = true;
    setImmediate(() => {
      statement.isScheduled = false;
      startWaiting(text, statement);
    });
  }

  return (text: string, values: readonly unknown[]): Promise<unknown> => {
    const statement = statements.get(text) ?? { running: 0, isScheduled: false, waiting: new Map() };
    statements.set(text, statement);
    const key = JSON.stringify(values);
    const known = statement.waiting.get(key);
    if (known) return known.row;
    const read = createWaiting(values);
    statement.waiting.set(key, read);
    schedule(text, statement);
    return read.row;
  };
}

function createWaiting(values: readonly unknown[]): Waiting {
  let settle: Pick<Waiting, 'resolve' | 'reject'> | undefined;
  const row = new Promise<unknown>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { values, row, ...(settle as unknown as Pick<Waiting, 'resolve' | 'reject'>) };
}
