import type { CompletionSource } from '@codemirror/autocomplete';
import { keywordCompletionSource, SQLDialect } from '@codemirror/lang-sql';

/** The names of types are case-sensitive. */
const TYPES = `Array BFloat16 Bool Date Date32 DateTime DateTime64 Decimal Decimal32 Decimal64 Decimal128 Decimal256 Dynamic
Enum8 Enum16 FixedString Float32 Float64 IPv4 IPv6 Int8 Int16 Int32 Int64 Int128 Int256 JSON LowCardinality Map Nested
Nullable Point Ring Polygon MultiPolygon String Tuple UInt8 UInt16 UInt32 UInt64 UInt128 UInt256 UUID Variant
AggregateFunction SimpleAggregateFunction`;

/** Highlighting and completion of keywords. Functions and settings are read from the service. */
export const clickHouse = SQLDialect.define({
  // Without those that are often names of columns.
  keywords: `
    add after alias all alter and anti any array as asc ascending asof async attach backup between both by
    case cast check clear cluster codec collate constraint create cross cube database databases deduplicate
    default delete desc descending describe detach dictionaries dictionary disk distinct distributed drop else
    empty end engine ephemeral estimate exchange except exists explain expression extract false fetch fill
    final following for format freeze from full function global grant granularity group grouping groups having
    if ignore ilike in indexes inner insert intersect interpolate interval into is join kill lateral leading
    left lightweight like limit local materialize materialized merges modify move mutation natural not null
    nulls offset on optimize or order outer outfile over paste partition pipeline plan populate preceding
    prewhere primary key projection qualify range recursive refresh rename replace restore revoke right rollup
    rows sample select semi sets settings show substring sync syntax system table tables temporary ties to top
    totals trailing trim true truncate ttl unbounded undrop union unique update use using values view watch
    when where window with`
    .trim()
    .replaceAll(/\s+/g, ' '),
  types: TYPES.toLowerCase().replaceAll('\n', ' '),
  builtin: '',
  backslashEscapes: true,
  doubleDollarQuotedStrings: true,
  identifierQuotes: '`"',
  operatorChars: '*+-%<>!=&|~^/?:',
  // Names are case-sensitive, and upper case needs no quotes.
  caseInsensitiveIdentifiers: true,
});

const typeNames = new Map(TYPES.split(/\s+/).map((name) => [name.toLowerCase(), name]));

const keywords = keywordCompletionSource(clickHouse, true, (label, type) => ({
  label: typeNames.get(label.toLowerCase()) ?? label,
  type,
  boost: -1,
}));

/** No keyword follows a dot. */
export const completeKeyword: CompletionSource = (context) => (context.matchBefore(/\.\w*/) ? null : keywords(context));
