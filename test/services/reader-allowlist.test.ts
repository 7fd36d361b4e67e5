import fc from 'fast-check';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { DrivenService } from '../../src/management/services/driver.ts';
import { READABLE_COLUMNS, READABLE_TABLES } from '../../src/running/drivers/embedded/readable-tables.ts';
import { tokenize } from '../../src/running/queries/lexer.ts';
import { AGGREGATES, COMBINATORS } from '../../src/running/queries/reader/aggregates.ts';
import { FUNCTIONS } from '../../src/running/queries/reader/functions.ts';
import { checkReaderStatement } from '../../src/running/queries/reader/reader-statement.ts';
import { REFUSED_FACTS, REFUSED_FUNCTIONS } from '../../src/running/queries/reader/refused.ts';
import { REFUSED_TABLE_FUNCTIONS, TABLE_FUNCTIONS } from '../../src/running/queries/reader/table-functions.ts';
import { TYPES } from '../../src/running/queries/reader/words.ts';
import { callUpstream, useEmbeddedServices } from '../support/embedded-services.ts';
import '../support/property-seed.ts';

// Starts the process of a service.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const sort = (names: readonly string[]): string[] => [...names].sort();

/** The columns with paths of files, of the tables that a reader sees in part. */
const HIDDEN_COLUMNS: Record<string, string[]> = {
  merges: ['result_part_path', 'source_part_paths'],
  parts: ['path'],
  parts_columns: ['path'],
  projection_parts: ['exception', 'path'],
};

/** The keywords of ClickHouse that may begin a statement of a reader. */
const FIRST_WORDS = [
  'DESC',
  'DESCRIBE',
  'EXISTS',
  'EXPLAIN',
  'FROM',
  'SELECT',
  'SHOW',
  'SHOW CREATE',
  'SHOW ENGINES',
  'SHOW FUNCTIONS',
  'SHOW GRANTS',
  'SHOW SETTING',
  'WITH',
];

/** The settings that a reader may change; the others could name files or expressions, or widen a limit. */
const SETTINGS = [
  ...[
    'date_time_output_format',
    'extremes',
    'final',
    'force_primary_key',
    'format_csv_delimiter',
    'group_by_use_nulls',
  ],
  ...['join_algorithm', 'join_use_nulls', 'limit', 'max_block_size', 'max_bytes_to_read', 'max_execution_time'],
  ...['max_memory_usage', 'max_result_rows', 'max_rows_to_read', 'max_threads', 'offset', 'optimize_read_in_order'],
  ...['output_format_json_array_of_rows', 'output_format_json_quote_64bit_integers'],
  ...['output_format_json_quote_decimals', 'output_format_json_quote_denormals', 'read_overflow_mode'],
  ...['result_overflow_mode', 'session_timezone', 'use_skip_indexes'],
];

/** One has an escape of the program clickhouse-client, the other a function that does not exist. */
const WRONG_EXAMPLES = ['numericIndexedVectorShortDebugString', 'YYYYMMDDhhmmssToDateTime'];

/** Pieces of statements that are hard to read alike. */
const PIECES = [
  ...[
    "'",
    '"',
    '`',
    '\\',
    "''",
    '""',
    '``',
    '‘',
    '’',
    '“',
    '”',
    '--',
    '//',
    '/*',
    '*/',
    '/',
    '*',
    '#',
    '# ',
    '#!',
    '\n',
  ],
  ...[
    '$',
    '$$',
    '$a$',
    '$a',
    'a$b',
    ' ',
    '\t',
    '\r',
    '\u00a0',
    '\u3000',
    'file',
    'x',
    '(',
    ')',
    ',',
    '.',
    '1',
    '1.',
    '.5',
  ],
  ...[
    '0x',
    '0b1',
    '1e',
    '1e5',
    '1_0',
    '2a',
    '_',
    '@@',
    '@',
    '−',
    'é',
    ';',
    '-',
    '->',
    '::',
    '{',
    '}',
    '[',
    ']',
    '|',
    '!',
    '\0',
  ],
];

describe('the library of embedded services', () => {
  const services = useEmbeddedServices();
  const service: DrivenService = services.createService();
  beforeAll(() => services.converge(service, 'running'));

  async function ask(sql: string, user: 'owner' | 'reader' = 'owner'): Promise<string[][]> {
    const { upstream } = await services.observe(service);
    if (!upstream?.sqlUsers) expect.fail('the service is not running');
    const headers = user === 'reader' ? upstream.sqlUsers.reader : upstream.headers;
    const limit = user === 'owner' ? '&max_query_size=4000000' : '';
    const url = `http://${upstream.host}:${upstream.port}/?default_format=JSONCompactStringsEachRow${limit}`;
    const { status, text } = await callUpstream(url, sql, headers);
    expect(status, text).toBe(200);
    return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line));
  }
  const list = async (sql: string) => (await ask(sql)).map(([name = '']) => name);

  it('has no function that was not decided on', async () => {
    const refused = [...REFUSED_FUNCTIONS.flatMap(({ names }) => names), ...REFUSED_FACTS];
    expect(sort([...FUNCTIONS, ...AGGREGATES, ...refused])).toEqual(
      sort(await list('SELECT name FROM system.functions')),
    );
    expect(sort(AGGREGATES)).toEqual(
      sort(
        await list(
          `SELECT name FROM system.functions WHERE is_aggregate AND name NOT IN (${refused.map((name) => `'${name}'`).join()})`,
        ),
      ),
    );
    expect(sort(COMBINATORS)).toEqual(sort(await list('SELECT name FROM system.aggregate_function_combinators')));
    // Their names matter in one case only, so that a column may have another one.
    const anyCase = await list('SELECT name FROM system.functions WHERE case_insensitive');
    expect(anyCase.filter((name) => REFUSED_FUNCTIONS.some(({ names }) => names.includes(name)))).toEqual([]);
    // An alias of a refused function is refused as well.
    const aliases = await ask("SELECT name, alias_to FROM system.functions WHERE alias_to != ''");
    for (const [name = '', target = ''] of aliases)
      expect(refused.includes(name), `${name} of ${target}`).toBe(refused.includes(target));
  });

  it('has no table function, type or statement that was not decided on', async () => {
    expect(sort([...TABLE_FUNCTIONS, ...REFUSED_TABLE_FUNCTIONS])).toEqual(
      sort(await list('SELECT name FROM system.table_functions')),
    );
    // Those that ClickHouse gives to no reader anyway are not promised.
    const readonly = await list('SELECT name FROM system.table_functions WHERE allow_readonly');
    expect(TABLE_FUNCTIONS.filter((name) => !readonly.includes(name))).toEqual([]);
    const types = await list("SELECT name FROM system.data_type_families WHERE position(name, ' ') = 0");
    expect(sort([...new Set(types.map((name) => name.toLowerCase()))])).toEqual(
      sort([...new Set(TYPES.map((name) => name.toLowerCase()))]),
    );
    const isFirst = (keyword: string) => {
      try {
        checkReaderStatement(`${keyword} SELECT 1`);
        return !/^(?:WITH|FROM) /.test(keyword);
      } catch {
        // `SHOW` alone is followed by what it shows.
        return keyword === 'SHOW';
      }
    };
    const keywords = (await list('SELECT keyword FROM system.keywords')).filter(isFirst);
    expect(sort(keywords)).toEqual(FIRST_WORDS);
  });

  it('shows a reader the tables and columns, and lets it change the settings, that were decided on', async () => {
    const hidden = Object.keys(HIDDEN_COLUMNS);
    expect(Object.keys(READABLE_COLUMNS).sort()).toEqual(hidden);
    for (const [table, columns] of Object.entries(READABLE_COLUMNS)) {
      const all = await list(`SELECT name FROM system.columns WHERE database = 'system' AND table = '${table}'`);
      expect(sort([...columns, ...(HIDDEN_COLUMNS[table] ?? [])]), table).toEqual(sort(all));
      await ask(`SELECT ${columns.map((name) => `\`${name}\``).join()} FROM system.${table} LIMIT 0`, 'reader');
    }
    const paths = await ask(
      "SELECT table, name FROM system.columns WHERE database = 'system' AND (name LIKE '%path%' OR name LIKE '%file%')",
      'reader',
    );
    const isHidden = ([table = '', name = '']: string[]) => HIDDEN_COLUMNS[table]?.includes(name);
    expect(
      paths
        .filter((one) => !isHidden(one))
        .map((one) => one.join('.'))
        .sort(),
    ).toEqual([
      // ClickHouse shows these four to every user.
      'databases.data_path',
      'databases.metadata_path',
      // Numbers, and names inside of a part.
      'parts.files',
      'parts.hash_of_all_files',
      'parts.hash_of_uncompressed_files',
      'parts.uncompressed_hash_of_compressed_files',
      'parts_columns.filenames',
      'projection_parts.hash_of_all_files',
      'projection_parts.hash_of_uncompressed_files',
      'projection_parts.uncompressed_hash_of_compressed_files',
      'tables.data_paths',
      'tables.metadata_path',
    ]);
    const shown = await ask("SELECT name FROM system.tables WHERE database = 'system'", 'reader');
    expect(shown.flat().sort()).toEqual(sort([...READABLE_TABLES, ...hidden]));
    const changeable = await ask('SELECT name FROM system.settings WHERE readonly = 0', 'reader');
    expect(changeable.flat().sort()).toEqual(SETTINGS);
  });

  it('runs the examples of its documentation as the check reads them', async () => {
    const rows = await ask("SELECT name, examples FROM system.functions WHERE examples != ''");
    const refused = [...REFUSED_FUNCTIONS.flatMap(({ names }) => names), ...REFUSED_FACTS];
    const wrong: string[] = [];
    let count = 0;
    for (const [name = '', examples = ''] of rows) {
      const statements = [...examples.matchAll(/```sql[^\n]*\n([\s\S]*?)```/g)].map(([, text = '']) => text.trim());
      for (const statement of statements.filter((text) => /^(?:SELECT|WITH)\b[^;]*;?$/i.test(text))) {
        count++;
        const isCalled = new RegExp(`\\b${name}\\(`).test(statement);
        let reason: string | undefined;
        try {
          checkReaderStatement(statement);
        } catch (error) {
          reason = (error as Error).message;
        }
        if (refused.includes(name) ? isCalled && reason === undefined : reason !== undefined)
          wrong.push(`${name}: ${reason}`);
      }
    }
    expect(count).toBeGreaterThan(1000);
    expect(wrong.filter((text) => !WRONG_EXAMPLES.some((name) => text.startsWith(`${name}: `)))).toEqual([]);
    expect(wrong.length).toBe(WRONG_EXAMPLES.length);
  });

  it('finds the literals, names and comments of any text where the check finds them', async () => {
    const texts = fc
      .sample(fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 14 }), 3000)
      .map((pieces) => pieces.join(''));
    const encoded = texts.map((text) => `'${Buffer.from(text).toString('hex')}'`).join();
    const answers = await list(`SELECT toJSONString(tokenizeQuery(unhex(arrayJoin([${encoded}]))))`);
    const differences = texts.filter((text, index) => {
      const theirs: { begin: string; end: string; type: string }[] = JSON.parse(answers[index] as string);
      return !isReadAlike(text, theirs);
    });
    expect(differences).toEqual([]);
  });
});

const KINDS: Record<string, string> = {
  StringLiteral: 'text',
  HereDoc: 'text',
  QuotedIdentifier: 'quoted',
  Comment: 'comment',
};

/** A statement with anything that we cannot read is refused, and one that ClickHouse cannot read fails. */
function isReadAlike(text: string, theirs: readonly { begin: string | number; end: string | number; type: string }[]) {
  const ours = [...tokenize(text)];
  const isError = (type: string) => type.startsWith('Error');
  if (ours.some(({ kind }) => kind === 'odd') || theirs.some(({ type }) => isError(type))) return true;
  const toByte = (at: number) => Buffer.byteLength(text.slice(0, at));
  const ourRanges = ours
    .filter(({ kind }) => Object.values(KINDS).includes(kind))
    .map(({ kind, start, end }) => `${kind} ${toByte(start)} ${toByte(end)}`);
  const theirRanges = theirs
    .filter(({ type }) => type in KINDS)
    .map(({ type, begin, end }) => `${KINDS[type]} ${begin} ${end}`);
  return JSON.stringify(ourRanges) === JSON.stringify(theirRanges);
}
