import { parseNetwork } from '../../src/kernel/access/addresses.ts';
import { preferredEncoding } from '../../src/kernel/encodings.ts';
import { matchesEtag } from '../../src/kernel/etag.ts';
import { parseDocuments } from '../../src/kernel/schemas/yaml-text.ts';
import { parseDate, parseDateTime } from '../../src/kernel/time/clock.ts';
import { parseDay } from '../../src/kernel/time/days.ts';
import { MAX_URL_BYTES } from '../../src/kernel/url-limits.ts';
import { parseEvent } from '../../src/management/billing/metering/event-parser.ts';
import { splitEvents } from '../../src/management/billing/metering/event-texts.ts';
import { parseActor } from '../../src/management/roles/schema.ts';
import { parseStart } from '../../src/observability/alerts/alert.ts';
import { parseFilters } from '../../src/observability/charts/filter-schema.ts';
import { splitExpressions } from '../../src/observability/charts/queries/expression-list.ts';
import { findColumnOrders, splitOrder } from '../../src/observability/charts/queries/sort-order.ts';
import { parseMoment } from '../../src/observability/charts/time-range.ts';
import { parseLucene } from '../../src/observability/expressions/lucene/lucene.ts';
import { parseNumber } from '../../src/observability/expressions/operators.ts';
import { parseCondition, parseValue } from '../../src/observability/expressions/sql/sql.ts';
import { parseMoment as parseTimeLiteral } from '../../src/observability/expressions/time-literal.ts';
import { parseCursor } from '../../src/observability/search/cursor.ts';
import { parseNanos } from '../../src/observability/search/nanos.ts';
import { parseRowId } from '../../src/observability/search/row-id.ts';
import { readBearerOrBare } from '../../src/observability/tokens/authentication.ts';
import { parseTraceId } from '../../src/observability/traces/trace-id.ts';
import { parseFutureExpiry } from '../../src/platform/credentials/expiry.ts';
import { stripBasePath } from '../../src/platform/http/requests/base-path.ts';
import { findTemplateViolation, renderTemplate } from '../../src/platform/notifications/template.ts';
import { parseRequestUrl } from '../../src/running/proxy/request-url.ts';
import { findKind, normalizeStatement } from '../../src/running/proxy/statement.ts';
import { parseFailure } from '../../src/running/queries/clickhouse-failure.ts';
import { tokenize } from '../../src/running/queries/lexer.ts';
import { toShownStatement } from '../../src/running/queries/shown-statement.ts';

export interface Parser {
  /** The longest text that reaches it, in characters. */
  limit: number;
  /** Starts and ends of texts that lead into its parts. */
  around?: readonly (readonly [string, string])[];
  /** Parts of its language. They are repeated, like those of `UNITS`. */
  units?: readonly string[];
  /** Errors are ignored. */
  parse(text: string): unknown;
  /** How many times the usual limit of time it may take, and why. */
  slow?: readonly [times: number, reason: string];
}

/** Repeated for each parser. */
export const UNITS: readonly string[] = [
  ...' \n\ta10_()[]{}<>"\'`\\/-+*?!=&|%^~$#@;:,.é\u00a0\u2028\0',
  ...[
    'A ',
    'a.',
    'a,',
    'a:',
    '{{',
    '}}',
    '\\\\',
    '//',
    '%41',
    '😀',
    '"a" ',
    "'a' ",
    '(a)',
    '[]',
    '{}',
    'a=',
    ', ',
    '--',
  ],
];

const SCOPE = {
  columns: Object.entries({
    Timestamp: 'DateTime64(9)',
    Body: 'String',
    ServiceName: 'LowCardinality(String)',
    Duration: 'UInt64',
    LogAttributes: 'Map(LowCardinality(String), String)',
    ResourceAttributes: 'Map(LowCardinality(String), String)',
  }).map(([name, type]) => ({ name, type })),
  implicitColumn: 'Body',
};
const HEADER_CHARACTERS = 16 * 1024;
const SQL_CHARACTERS = 256 * 1024;
const SQL = [
  ...['a = 1 AND ', 'Body = 1 OR ', 'NOT ', '1 + ', 'CASE WHEN ', "LogAttributes['a'", 'toString(', 'Body['],
  ...['/*', '$a$', '$a', '#!', "''", '1e', '0x', '{a:String}', 'x.y:1 ', ' asc', ' desc,'],
];
const YAML = [
  ...['a: ', 'a:\n ', 'a: b\n', '- ', '- - ', ' - a\n', '- [{', '? ', ' ? a\n', '&a ', '*a ', '!!x ', '{a: ', '[a, '],
  ...['"\\u', '| \n', '---\n', '...\n', '#\n', '%YAML 1.2\n', '<<: '],
];

/** Keeps none of them. */
function countAll(parts: Iterable<unknown>): number {
  let count = 0;
  for (const _ of parts) count++;
  return count;
}

/** Every parser of texts of users, by its file and name. */
export const PARSERS: Readonly<Record<string, Parser>> = {
  'platform/notifications/template.ts#findTemplateViolation': {
    limit: 16_384,
    around: [
      ['{{', ''],
      ['{{eq ', '}}'],
      ['{{#if a}}', '{{/if}}'],
    ],
    units: [
      ...[
        '{{{{',
        '{{{',
        '{{#',
        '{{!',
        '{{!--',
        '\\{{',
        '{{~',
        "{{'",
        '{{[',
        '{{^}}',
        '{{else}}',
        '{{else if a}}',
        '{{/a}}',
      ],
      ...['{{a}}', '{{{a}}}', '{{a}}\n', '~}}\n', '{{{{a}}}}', '{{#if a}}{{/if}}', '../', '@a', '(eq '],
    ],
    parse: findTemplateViolation,
  },
  'platform/notifications/template.ts#renderTemplate': {
    limit: 16_384,
    around: [
      ['{{#each a}}', '{{/each}}'],
      ['{{', '}}'],
    ],
    units: ['{{a}}', '{{b}}', '{{eq a a}}', '{{#each a}}{{/each}}'],
    parse: (text) => renderTemplate(text, { a: Array.from({ length: 1000 }, () => 1), b: { b: 'x'.repeat(1000) } }),
  },
  'observability/expressions/lucene/lucene.ts#parseLucene': {
    limit: 10_000,
    around: [
      ['Body:(', ')'],
      ['Duration:[', ' TO 1]'],
    ],
    units: [
      ...[
        'a AND ',
        'a OR ',
        'NOT ',
        'Body:a ',
        'Body:>',
        'Bodx:',
        'a.b:1 ',
        'LogAttributes.a:b ',
        '://',
        '/a',
        '*a',
        'a~',
      ],
    ],
    parse: (text) => parseLucene(text, SCOPE),
  },
  'observability/expressions/sql/sql.ts#parseValue': {
    limit: 10_000,
    around: [
      ["'", ''],
      ['(', ')'],
      ['Body IN (', ')'],
    ],
    units: SQL,
    parse: (text) => parseValue(text, SCOPE),
  },
  'observability/expressions/sql/sql.ts#parseCondition': {
    limit: 10_000,
    around: [
      ["Body LIKE '", "'"],
      ["Timestamp > '", "'"],
      ["Duration > '", "'"],
    ],
    units: SQL,
    parse: (text) => parseCondition(text, SCOPE),
  },
  'observability/charts/queries/expression-list.ts#splitExpressions': {
    limit: 65_536,
    units: SQL,
    parse: (text) => splitExpressions(text, 101),
  },
  'observability/charts/queries/sort-order.ts#splitOrder': { limit: 10_000, units: SQL, parse: splitOrder },
  'observability/charts/queries/sort-order.ts#findColumnOrders': {
    limit: 10_000,
    units: SQL,
    parse: (text) => findColumnOrders(text, ['a', 'b'], []),
  },
  'observability/charts/filter-schema.ts#parseFilters': {
    limit: 8000,
    around: [['[', ']']],
    units: ['[[', '{"a":', '[{},', '{"where":"a"},'],
    parse: parseFilters,
  },
  'observability/charts/time-range.ts#parseMoment': { limit: 64, parse: (text) => parseMoment('start', text) },
  'observability/expressions/operators.ts#parseNumber': { limit: 10_000, units: ['1.', '1e'], parse: parseNumber },
  'observability/expressions/time-literal.ts#parseMoment': {
    limit: 10_000,
    around: [['2026-01-01 00:00:00.', '']],
    parse: parseTimeLiteral,
  },
  'observability/search/nanos.ts#parseNanos': { limit: 64, parse: (text) => parseNanos('startTime', text) },
  'observability/search/cursor.ts#parseCursor': { limit: 512, parse: (text) => parseCursor(text, 'query') },
  'observability/search/row-id.ts#parseRowId': {
    limit: 1024,
    around: [['1-', '']],
    parse: (text) => parseRowId('id', text),
  },
  'observability/traces/trace-id.ts#parseTraceId': { limit: 1024, parse: parseTraceId },
  'observability/alerts/alert.ts#parseStart': { limit: 64, parse: parseStart },
  'observability/tokens/authentication.ts#readBearerOrBare': {
    limit: HEADER_CHARACTERS,
    around: [
      ['Bearer ', ''],
      ['Bearer a', ' b'],
    ],
    parse: readBearerOrBare,
  },
  'kernel/etag.ts#matchesEtag': {
    limit: HEADER_CHARACTERS,
    units: ['"a", ', 'W/', '*,', '"a.gzip",'],
    parse: (text) => matchesEtag(text, '"x"'),
  },
  'kernel/encodings.ts#preferredEncoding': {
    limit: HEADER_CHARACTERS,
    units: ['gzip,', 'gzip;q=0.1;', 'a;'],
    parse: (text) => preferredEncoding(text),
  },
  'kernel/time/clock.ts#parseDateTime': { limit: 10_000, parse: (text) => parseDateTime(text, { offset: 'optional' }) },
  'kernel/time/clock.ts#parseDate': { limit: 10_000, parse: parseDate },
  'kernel/time/days.ts#parseDay': { limit: 10_000, parse: parseDay },
  'kernel/access/addresses.ts#parseNetwork': {
    limit: 10_000,
    units: ['1.', ':1', '::', '0:', '/1'],
    parse: parseNetwork,
  },
  'kernel/schemas/yaml-text.ts#parseDocuments': {
    limit: 16_384,
    around: [['a: &a [', ']']],
    units: YAML,
    parse: (text) => parseDocuments(text, 'The file'),
    slow: [4, 'The files of operators are parsed at the start, by commands, and one by one in the dashboards folder'],
  },
  'platform/credentials/expiry.ts#parseFutureExpiry': { limit: 10_000, parse: (text) => parseFutureExpiry(text, 0) },
  'platform/http/requests/base-path.ts#stripBasePath': {
    limit: MAX_URL_BYTES,
    around: [['http://', '']],
    parse: (text) => stripBasePath('/a', text),
  },
  'management/roles/schema.ts#parseActor': { limit: 64, parse: parseActor },
  'management/billing/metering/event-parser.ts#parseEvent': { limit: 16_384, units: ['{"a":'], parse: parseEvent },
  'management/billing/metering/event-texts.ts#splitEvents': {
    limit: 128 * 1024,
    around: [['[', ']']],
    units: ['{},', '"a",', '{}\n'],
    parse: (text) => countAll(splitEvents(Buffer.from(text), text.startsWith('[') ? 'json' : 'ndjson')),
  },
  'running/proxy/request-url.ts#parseRequestUrl': {
    limit: MAX_URL_BYTES,
    around: [
      ['/?', ''],
      ['/?query=', ''],
    ],
    units: ['a=b&', 'user=a&'],
    parse: parseRequestUrl,
  },
  'running/proxy/statement.ts#findKind': { limit: SQL_CHARACTERS, units: SQL, parse: findKind },
  'running/proxy/statement.ts#normalizeStatement': { limit: 4096, units: SQL, parse: normalizeStatement },
  'running/queries/lexer.ts#tokenize': {
    limit: SQL_CHARACTERS,
    units: SQL,
    parse: (text) => countAll(tokenize(text)),
  },
  'running/queries/shown-statement.ts#toShownStatement': { limit: SQL_CHARACTERS, units: SQL, parse: toShownStatement },
  'running/queries/clickhouse-failure.ts#parseFailure': {
    limit: 65_536,
    around: [
      ['Code: 1. DB::Exception: ', ''],
      ['', ' x'],
    ],
    units: ['(version ', ' (version ', '(A', '(A) ', 'failed at position '],
    parse: (text) => parseFailure(text, 'SELECT 1'),
  },
};
