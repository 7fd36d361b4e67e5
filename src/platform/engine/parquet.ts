import { resolve } from 'node:path';
import { AppError } from '../../kernel/errors.ts';

/**
 * Reads a Parquet file as lines of JSON with the given columns as strings; times are in UTC. Uses a separate, empty
 * engine in this process: the engine that holds data may not read files.
 */
export async function* readParquet(path: string, columns: readonly string[]): AsyncGenerator<string> {
  const { Session } = await import('chdb').catch((cause: Error) => {
    throw new AppError('unavailable', 'Reading Parquet files requires the chdb package, which is not installed', {
      cause,
    });
  });
  const session = new Session();
  try {
    const cells = columns.map(
      (name) =>
        `${name === 'time' ? `replaceOne(toString(source.${name}), ' ', 'T')` : `toString(source.${name})`} AS ${name}`,
    );
    const statement = `SELECT ${cells.join(', ')} FROM file(${toLiteral(resolve(path))}, 'Parquet') AS source
      SETTINGS session_timezone = 'UTC', max_memory_usage = 1000000000, input_format_parquet_case_insensitive_column_matching = 0`;
    for await (const chunk of session.queryStream(statement, { format: 'JSONEachRow' })) yield chunk.text();
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const [, reason = 'it is not a Parquet file with these columns'] =
      /DB::Exception: ([^:.]{1,200})/.exec((cause as Error).message) ?? [];
    throw new AppError('bad_request', `${path} cannot be read: ${reason}`, { cause });
  } finally {
    session.cleanup();
  }
}

const toLiteral = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
