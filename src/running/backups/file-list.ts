/** A file of a backup, in ClickHouse's list. */
interface ListedFile {
  name: string;
  bytes: string;
  checksum: string;
  /** The file with the same contents that was written instead. */
  dataFile: string;
}

const FILE = /<file>(.*?)<\/file>/gs;

/** Parses ClickHouse's list of the files of a backup. */
export function parseFileList(text: string): ListedFile[] {
  return [...text.matchAll(FILE)].map(([, element = '']) => {
    const read = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(element)?.[1] ?? '';
    const name = unescapeXml(read('name'));
    return {
      name,
      bytes: read('size'),
      checksum: read('checksum'),
      dataFile: unescapeXml(read('data_file')) || name,
    };
  });
}

const unescapeXml = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');

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
