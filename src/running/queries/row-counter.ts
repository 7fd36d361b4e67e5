const LINE_FEED = 10;
const ROW = Buffer.from('{"row"');
const PROGRESS = Buffer.from('{"progress"');

interface Progress {
  read_rows?: string;
  read_bytes?: string;
}

/** Counts the rows of a result in ClickHouse's format JSONCompactEachRowWithProgress, and reads its progress. */
export function createRowCounter(maxRows: number) {
  let rows = 0;
  let rowsRead = 0;
  let bytesRead = 0;
  let isTruncated = false;

  return {
    /** The lines up to the last row that is sent. */
    take(lines: Buffer): Buffer {
      for (let start = 0; start < lines.length; ) {
        const next = lines.indexOf(LINE_FEED, start) + 1;
        const end = next === 0 ? lines.length : next;
        if (startsWith(lines, start, ROW)) {
          if (rows === maxRows) {
            isTruncated = true;
            return lines.subarray(0, start);
          }
          rows++;
        } else if (startsWith(lines, start, PROGRESS)) readProgress(lines.toString('utf8', start, end));
        start = end;
      }
      return lines;
    },
    isTruncated: (): boolean => isTruncated,
    read: () => ({ rows, rowsRead, bytesRead, truncated: isTruncated }),
    /** The head of the response to a statement without rows has what it read. */
    readSummary(header: string | string[] | undefined): void {
      if (typeof header !== 'string') return;
      const { read_rows = '0', read_bytes = '0' } = JSON.parse(header) as Progress;
      rowsRead = Math.max(rowsRead, Number(read_rows));
      bytesRead = Math.max(bytesRead, Number(read_bytes));
    },
  };

  function readProgress(line: string): void {
    const { progress } = JSON.parse(line) as { progress: Progress };
    rowsRead = Number(progress.read_rows ?? rowsRead);
    bytesRead = Number(progress.read_bytes ?? bytesRead);
  }
}

const startsWith = (bytes: Buffer, start: number, prefix: Buffer): boolean =>
  bytes.length - start >= prefix.length && bytes.compare(prefix, 0, prefix.length, start, start + prefix.length) === 0;
