/** A file of a backup, in ClickHouse's list. */
interface ListedFile {
  name: string;
  bytes: string;
  checksum: string;
  /** The file with the same contents that was written instead. */
  dataFile: string;
  /** The size of what was written: without what the backup before has. */
  storedBytes: number;
}

const FILE = /<file>(.*?)<\/file>/gs;

const createReader = (name: string) => {
  const pattern = new RegExp(`<${name}>([^<]*)</${name}>`);
  return (element: string): string => pattern.exec(element)?.[1] ?? '';
};
const read = {
  name: createReader('name'),
  size: createReader('size'),
  checksum: createReader('checksum'),
  dataFile: createReader('data_file'),
  usesBase: createReader('use_base'),
  baseSize: createReader('base_size'),
};

/** Parses ClickHouse's list of the files of a backup. */
export function parseFileList(text: string): ListedFile[] {
  return [...text.matchAll(FILE)].map(([, element = '']) => {
    const name = unescapeXml(read.name(element));
    const bytes = read.size(element);
    // Without a size, the backup before has all of the file.
    const baseBytes = read.usesBase(element) === 'true' ? read.baseSize(element) || bytes : 0;
    return {
      name,
      bytes,
      checksum: read.checksum(element),
      dataFile: unescapeXml(read.dataFile(element)) || name,
      storedBytes: Number(bytes) - Number(baseBytes),
    };
  });
}

const LIST_END = '</config>';

/**
 * The files that were written for a backup itself, with their sizes. On a full disk, ClickHouse (26.7) cuts files off and
 * reports that the backup was created: if its list is not complete, the result is undefined.
 */
export function listWritten(list: string): Map<string, number> | undefined {
  if (!list.trimEnd().endsWith(LIST_END)) return undefined;
  const written = new Map<string, number>();
  for (const { dataFile, storedBytes } of parseFileList(list)) if (storedBytes > 0) written.set(dataFile, storedBytes);
  return written;
}

/** What is wrong with a file that should have a number of bytes. */
export function explainSize(path: string, found: number | undefined, bytes: number): string | undefined {
  if (found === undefined) return `the file ${path} is missing`;
  return found === bytes ? undefined : `the file ${path} has ${found} bytes instead of ${bytes}`;
}

const unescapeXml = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');

const BASE = /<base_backup>[^<]*<\/base_backup>/;
const BASE_CREDENTIALS = /<base_backup_copy_s3_credentials_from_backup>[^<]*<\/[^>]*>/;

/** The list of a backup that was written to the storage, for ClickHouse that reads a copy. `base`: its new place. */
export const replaceBase = (text: string, base: string): string =>
  text.replace(BASE, () => `<base_backup>${base}</base_backup>`).replace(BASE_CREDENTIALS, '');

/** The files of one table. */
export interface ListedTable {
  database: string;
  name: string;
  /** Name, size and checksum of each file, sorted; without the names of parts, which a restore may change. */
  contents: string[];
  /** Where the numbers of rows are. */
  countFiles: string[];
}

/** Differs between a table and its restored copy, which was never altered. */
const IGNORED = 'metadata_version.txt';

/** The tables of users in the order of their names, also those without data. */
export function listTables(files: readonly ListedFile[]): ListedTable[] {
  const tables = new Map<string, ListedTable>();
  const getTable = (database: string, name: string): ListedTable => {
    const key = `${database}/${name}`;
    const table = tables.get(key) ?? { database: decode(database), name: decode(name), contents: [], countFiles: [] };
    tables.set(key, table);
    return table;
  };
  for (const { name, bytes, checksum, dataFile } of files) {
    const [kind, database = '', table = '', ...path] = name.split('/');
    if (database === 'system') continue;
    if (kind === 'metadata' && table !== '') getTable(database, table.replace(/\.sql$/, ''));
    if (kind !== 'data') continue;
    const file = path.slice(path.length > 1 ? 1 : 0).join('/');
    if (file === IGNORED) continue;
    const entry = getTable(database, table);
    entry.contents.push(`${file} ${bytes} ${checksum}`);
    if (file === 'count.txt') entry.countFiles.push(dataFile);
  }
  for (const { contents } of tables.values()) contents.sort();
  return [...tables].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, table]) => table);
}

/** ClickHouse writes other characters of names as `%2E`. */
const decode = (name: string): string => {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
};
