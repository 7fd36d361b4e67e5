/** Bodies of a given size that are expensive to read, decode, parse, check or store. */

const MIB = 1024 * 1024;
const MAX_DEPTH = 100;
/** A few less than a body may have. */
const countMaxValues = (bytes: number): number => (bytes / MIB) * 25_000 - 100;

/** Where the bodies of an operation place their contents, from its schema. */
export interface Target {
  bytes: number;
  /** A member that is a list. */
  list: string;
  /** A member that is a string. */
  text: string;
}

type Shape = (target: Target) => string | Buffer;

const fill = (piece: string, bytes: number): string =>
  piece.repeat(Math.max(0, Math.floor(bytes / Buffer.byteLength(piece))));

/** `{"<name>":[piece,piece,…]}`, with as many values as a body may have */
const repeatInList =
  (piece: string): Shape =>
  ({ list, bytes }) => {
    const values = 1 + piece.split(/[,[{]/).length - 1;
    const length =
      Math.min(bytes - list.length - 32, (countMaxValues(bytes) / values) * (piece.length + 1)) - piece.length;
    return `{"${list}":[${fill(`${piece},`, length)}${piece}]}`;
  };

/** `{"<name>":"<piece><piece>…"}` */
const repeatInText =
  (piece: string): Shape =>
  ({ text, bytes }) =>
    `{"${text}":"${fill(piece, bytes - text.length - 32)}"}`;

/** `{"m0":0,"m1":0,…}` */
const createMembers =
  (format: (index: number) => string): Shape =>
  ({ bytes }) => {
    const members: string[] = [];
    for (let size = 2; ; ) {
      const member = format(members.length);
      size += member.length + 1;
      if (size > bytes || members.length >= countMaxValues(bytes)) return `{${members.join(',')}}`;
      members.push(member);
    }
  };

const nested = `${'['.repeat(MAX_DEPTH - 3)}${']'.repeat(MAX_DEPTH - 3)}`;

export const SHAPES: Record<string, Shape> = {
  'too many zeros': ({ list, bytes }) => `{"${list}":[${fill('0,', bytes - 64)}0]}`,
  zeros: repeatInList('0'),
  nulls: repeatInList('null'),
  'empty objects': repeatInList('{}'),
  'empty lists': repeatInList('[]'),
  'nested lists': repeatInList(nested),
  'lists of lists': repeatInList(`[${fill('[0,0],', 600)}[]]`),
  'short strings': repeatInList('""'),
  'long numbers': repeatInList(`1.${'7'.repeat(300)}e-5`),
  'unknown members': createMembers((index) => `"m${index}":0`),
  'numeric members': createMembers((index) => `"${index * 7919}":0`),
  'repeated members': createMembers(() => '"name":0'),
  'members with long names': createMembers((index) => `"${index}${'n'.repeat(60)}":0`),
  'objects with new names': ({ list, bytes }) => {
    const objects: string[] = [];
    for (let size = 64; size < bytes && objects.length < countMaxValues(bytes) / 4; size += objects.at(-1)?.length ?? 0)
      objects.push(`{"a${objects.length}":0,"b${objects.length}":{}},`);
    objects.pop();
    return `{"${list}":[${objects.join('')}0]}`;
  },
  'a long string': repeatInText('x'),
  'a string of escapes': repeatInText('\\n'),
  'a string of escaped quotes': repeatInText('\\"'),
  'a string of escaped surrogate pairs': repeatInText('\\ud83d\\ude00'),
  'a string of unpaired surrogates': repeatInText('\\ud800'),
  'a string of characters of three bytes': repeatInText('漢'),
  'a string of characters of four bytes': repeatInText('😀'),
  'a string of NUL': repeatInText('\\u0000'),
  'a long number': ({ bytes }) => `{"name":${fill('7', bytes - 16)}}`,
  'a long member name': ({ bytes }) => `{"${fill('n', bytes - 16)}":0}`,
  whitespace: ({ bytes }) => `{${fill(' ', bytes - 2)}}`,
  'whitespace between values': repeatInList(`0${' '.repeat(2000)}`),
  'opening brackets': ({ bytes }) => fill('[', bytes),
  commas: ({ bytes }) => fill(',', bytes),
  quotes: ({ bytes }) => fill('"', bytes),
  backslashes: ({ bytes }) => `"${fill('\\', bytes - 1)}`,
  'invalid UTF-8': ({ bytes }) => Buffer.alloc(bytes, 0xff),
  'an unfinished string': ({ bytes }) => `{"name":"${fill('x', bytes - 9)}`,
};

const tile = (index: number, series: object[]) => ({
  id: `tile-${index}`,
  name: `Tile ${index}`,
  x: 0,
  y: index,
  w: 12,
  h: 4,
  series,
});

const markdown = (piece: string, bytes: number): string => {
  const content = piece.repeat(Math.floor(50_000 / [...piece].length));
  const one = { type: 'markdown', content };
  const count = Math.floor(bytes / (Buffer.byteLength(JSON.stringify(one)) + 100));
  return JSON.stringify({ name: 'Large', tiles: Array.from({ length: count }, (_, index) => tile(index, [one])) });
};

/** The largest valid dashboards, in bytes and in number of values, and larger ones. */
export const LARGE_DASHBOARDS: Record<string, () => string> = {
  'much text': () => markdown('plain text ', 1.95 * MIB),
  'much text with line breaks': () => markdown('\n', 1.95 * MIB),
  'much text of three bytes per character': () => markdown('漢', 1.95 * MIB),
  'much text of four bytes per character': () => markdown('😀', 1.95 * MIB),
  'many series': () =>
    JSON.stringify({
      name: 'Many series',
      tags: ['a', 'b'],
      tiles: Array.from({ length: 500 }, (_, index) =>
        tile(
          index,
          Array.from({ length: 5 }, (_, at) => ({
            type: 'time',
            aggFn: 'quantile',
            level: 0.95,
            field: 'Duration',
            where: `ServiceName:"service-${at}" AND SeverityText:"ERROR"`,
            whereLanguage: 'lucene',
            groupBy: ['ServiceName'],
            dataSource: 'events',
            alias: `Series ${at}`,
            displayType: 'line',
            sortOrder: 'asc',
            numberFormat: { output: 'number', mantissa: 2 },
          })),
        ),
      ),
    }),
  'many values in configs': () =>
    JSON.stringify({
      name: 'Many values',
      tiles: Array.from({ length: 250 }, (_, index) => ({
        ...tile(index, []),
        series: undefined,
        config: {
          displayType: 'line',
          sourceId: 'logs',
          groupBy: 'ServiceName, Body',
          fillNulls: true,
          select: Array.from({ length: 20 }, (_, at) => ({
            aggFn: 'quantile',
            level: 0.95,
            valueExpression: 'Duration',
            where: `ServiceName:"service-${at}"`,
            whereLanguage: 'lucene',
            numberFormat: { output: 'number', mantissa: at },
          })),
        },
      })),
    }),
  'many series that a config cannot express': () =>
    JSON.stringify({
      name: 'Many sources',
      tiles: Array.from({ length: 500 }, (_, index) =>
        tile(
          index,
          Array.from({ length: 18 }, (_, at) => ({
            type: 'time',
            aggFn: 'count',
            sourceId: at % 2 ? 'logs' : 'traces',
          })),
        ),
      ),
    }),
  'many tiles with series and the same config': () =>
    JSON.stringify({
      name: 'Both forms',
      tiles: Array.from({ length: 500 }, (_, index) => ({
        ...tile(
          index,
          Array.from({ length: 10 }, () => ({ type: 'time', aggFn: 'count', sourceId: 'logs', displayType: 'line' })),
        ),
        config: { displayType: 'line', sourceId: 'logs', select: Array(10).fill({ aggFn: 'count' }) },
      })),
    }),
  'many invalid series': () =>
    JSON.stringify({
      name: 'Many invalid series',
      tiles: Array.from({ length: 500 }, (_, index) =>
        tile(
          index,
          Array.from({ length: 8 }, () => ({ type: 'search', fields: [0, 0, 0, 0, 0], groupBy: [0] })),
        ),
      ),
    }),
  'a last series that is invalid': () =>
    JSON.stringify({
      name: 'Late error',
      tiles: Array.from({ length: 500 }, (_, index) =>
        tile(
          index,
          Array.from({ length: 5 }, (_, at) => ({
            type: 'search',
            fields: Array.from({ length: 15 }, () => (index === 499 && at === 4 ? 0 : 'Body')),
          })),
        ),
      ),
    }),
};

const event = (index: number) =>
  JSON.stringify({
    id: `e${index}`,
    source: 'hostile',
    time: '2026-10-20T12:00:00Z',
    entityType: 'service',
    entityId: '0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11',
    meter: 'computeCHC',
    quantity: 1,
  });

const lines = (format: (index: number) => string, bytes: number, limit = Number.POSITIVE_INFINITY): string => {
  const all: string[] = [];
  for (let size = 0; all.length < limit; ) {
    const line = format(all.length);
    size += line.length + 1;
    if (size > bytes) break;
    all.push(line);
  }
  return all.join('\n');
};

/** 32 MiB is the maximum; `npm test` sends a quarter of it. */
const BATCH_BYTES = (process.env.HOSTILE_REQUESTS === undefined ? 8 : 32) * MIB;

/** Batches of usage events, with their content types. */
export const BATCHES: Record<string, { type: string; body: () => string | Buffer }> = {
  'empty lines': { type: 'application/x-ndjson', body: () => '\n'.repeat(BATCH_BYTES) },
  'lines of zero': { type: 'application/x-ndjson', body: () => '0\n'.repeat(BATCH_BYTES / 2) },
  'one long line': { type: 'application/x-ndjson', body: () => `{"id":"${'x'.repeat(BATCH_BYTES - 16)}"}` },
  'one long line of three-byte characters': { type: 'application/x-ndjson', body: () => fill('漢', BATCH_BYTES) },
  'empty lines between few events': {
    type: 'application/x-ndjson',
    body: () => lines((index) => `${' \n'.repeat(20_000)}${event(index)}`, BATCH_BYTES),
  },
  'lines of invalid UTF-8': {
    type: 'application/x-ndjson',
    body: () => Buffer.alloc(BATCH_BYTES, Buffer.from([0xff, 10])),
  },
  'valid events': { type: 'application/x-ndjson', body: () => lines(event, BATCH_BYTES) },
  'events of three-byte characters': {
    type: 'application/x-ndjson',
    body: () => lines((index) => JSON.stringify({ id: `${index}${'漢'.repeat(200)}` }), BATCH_BYTES / 3),
  },
  'an array of zeros': { type: 'application/json', body: () => `[${'0,'.repeat(BATCH_BYTES / 2 - 2)}0]` },
  'an array of empty objects': { type: 'application/json', body: () => `[${'{},'.repeat(BATCH_BYTES / 3 - 2)}{}]` },
  'an array with one long element': { type: 'application/json', body: () => `["${'x'.repeat(BATCH_BYTES - 8)}"]` },
  'an array of whitespace': { type: 'application/json', body: () => `[${' '.repeat(BATCH_BYTES - 2)}]` },
  'an array of valid events': {
    type: 'application/json',
    body: () => `[${lines(event, BATCH_BYTES - 2 * MIB).replaceAll('\n', ',')}]`,
  },
  'opening brackets': { type: 'application/json', body: () => '['.repeat(BATCH_BYTES) },
};

const KIB = 1024;

/** The queries of URLs that are expensive to parse if each parameter is searched in the rest of the URL. */
export const LONG_URLS: Record<string, string> = {
  'a& of 1 MiB': 'a&'.repeat(512 * KIB),
  'a& of 100 KiB': 'a&'.repeat(50 * KIB),
  'a& of 60 KiB': 'a&'.repeat(30 * KIB),
  'a=1& of 60 KiB': 'a=1&'.repeat(15 * KIB),
  '999 parameters of 60 bytes': `${'a'.repeat(59)}&`.repeat(999),
  '999 users': 'user=%61%61%61&'.repeat(999),
  'a password of escapes': `password=${'%61'.repeat(20 * KIB)}`,
  'a statement of comments': `query=${'/**/'.repeat(15 * KIB)}`,
  'equals signs': '='.repeat(60 * KIB),
  'percent signs': '%'.repeat(60 * KIB),
};
