import { AppError } from '../../kernel/errors.ts';
import type { AppliedMigration } from '../../kernel/migration.ts';

/** The first line of the file. */
export interface Header {
  type: 'pilothouse-backup';
  format: typeof FORMAT;
  /** The version of Pilothouse that wrote the file. */
  version: string;
  createdAt: string;
  store: string;
  stateMigrations: AppliedMigration[];
  engineMigrations: AppliedMigration[];
  /** The ids of the keys that its secrets are encrypted with; the keys are not in the file. Files of before there were keys have none. */
  secretKeys?: string[];
}

/** Starts the rows of a table. */
export interface TableHeader {
  type: 'table';
  part: Part;
  name: string;
  columns: string[];
}

/** Is followed by `bytes` bytes: gzip of one JSON array per row and line (state) or of tab-separated lines (engine). */
interface ChunkHeader {
  type: 'rows';
  rows: number;
  bytes: number;
  sha256: string;
}

/** The last line. `sha256` is that of all bytes before it. */
interface Trailer {
  type: 'end';
  sha256: string;
}

export type Part = 'state' | 'engine';
export type Line = Header | TableHeader | ChunkHeader | Trailer;

export const FORMAT = 1;
/** The longest line: the header, with one entry per migration. */
export const MAX_LINE_BYTES = 2 ** 20;
/** The largest chunk. Chunks are written with a few MiB; a single row may be larger. */
const MAX_CHUNK_BYTES = 512 * 2 ** 20;

export const formatLine = (line: Line): Buffer => Buffer.from(`${JSON.stringify(line)}\n`);

/** Returns undefined for a line that no version of this format contains. */
export function parseLine(text: string): Line | undefined {
  let line: Partial<Record<string, unknown>>;
  try {
    line = JSON.parse(text);
  } catch {
    return undefined;
  }
  const isValid = IS_VALID[line?.type as Line['type']]?.(line) ?? false;
  return isValid ? (line as unknown as Line) : undefined;
}

type Fields = Partial<Record<string, unknown>>;

const isText = (value: unknown): value is string => typeof value === 'string';
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isMigrationList = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every((entry: Fields | null) => isCount(entry?.version) && isText(entry?.name) && isText(entry?.checksum));

const IS_VALID: Record<Line['type'], (line: Fields) => boolean> = {
  // Later formats may have other members.
  'pilothouse-backup': (line) => isCount(line.format),
  table: ({ part, name, columns }) =>
    (part === 'state' || part === 'engine') &&
    isIdentifier(name) &&
    Array.isArray(columns) &&
    columns.length > 0 &&
    columns.every(isIdentifier),
  rows: ({ rows, bytes, sha256 }) => isCount(rows) && isCount(bytes) && bytes <= MAX_CHUNK_BYTES && isText(sha256),
  end: ({ sha256 }) => isText(sha256),
};

/** Names become part of SQL statements. Nested columns of the engine contain a dot. */
const isIdentifier = (value: unknown): boolean => isText(value) && /^[A-Za-z_]\w*(\.\w+)?$/.test(value);

/** Rejects a file of a later format or with members that this version does not know. */
export function checkHeader(header: Header, path: string): Header {
  if (header.format !== FORMAT)
    throw new AppError(
      'conflict',
      `${path} has backup format ${header.format}; this version of Pilothouse reads format ${FORMAT}. Use the version that wrote it`,
    );
  const { version, createdAt, store, stateMigrations, engineMigrations, secretKeys = [] } = header;
  const isComplete =
    [version, createdAt, store].every(isText) &&
    Array.isArray(secretKeys) &&
    secretKeys.every(isText) &&
    [stateMigrations, engineMigrations].every(isMigrationList);
  if (!isComplete) throw damaged(path, 'its header is not complete');
  return header;
}

export const damaged = (path: string, reason: string): AppError =>
  new AppError('conflict', `${path} is damaged: ${reason}. Nothing was changed`);
