import fc from 'fast-check';

/** Replaces the parameters of a statement with literals. */
export function inlineParameters(sql: string, parameters: Record<string, unknown>): string {
  return sql.replace(/\{(p\d+):([^}]*)\}/g, (_, name: string, type: string) => formatValue(parameters[name], type));
}

function formatValue(value: unknown, type: string): string {
  if (Array.isArray(value)) return `(${value.map((each) => formatValue(each, type)).join(', ')})`;
  return typeof value === 'string' && !/^(U?Int|Float)/.test(type) ? quoteText(value) : String(value);
}

export function quoteText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** Any string that the engine accepts: all of Unicode except NUL. */
export const anyText = fc
  .string({ unit: 'binary', maxLength: 40 })
  .map((text) => text.replaceAll('\0', '').toWellFormed());

const one = (...values: string[]) => fc.constantFrom(...values);
const NUMBER = fc.oneof(
  fc.integer({ min: -1000, max: 1000 }).map(String),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }).map(String),
  one('0', '1e3', '2.50', '18446744073709551615', '.5'),
);
const COMPARISON = one('=', '==', '!=', '<>', '<', '<=', '>', '>=');
const UNIT = one('SECOND', 'minutes', 'Hour', 'DAY', 'weeks', 'MONTH', 'year');

/** Expressions of every type in ordinary notation, with and without parentheses. */
export const sqlText = fc.letrec<Record<'text' | 'number' | 'condition' | 'time', string>>((tie) => {
  const [text, number, condition, time] = [tie('text'), tie('number'), tie('condition'), tie('time')];
  const join = (parts: (fc.Arbitrary<string> | string)[]) =>
    fc.tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part))).map((all) => all.join(''));
  return {
    text: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      one('Body', 'ServiceName', '`Level`', 'Note', "LogAttributes['http.status']", 'LogAttributes.http.method'),
      fc.oneof(anyText, fc.integer().map(String)).map(quoteText),
      join([one('lower', 'upperUTF8', 'trim', 'domain', 'reverse'), '(', text, ')']),
      join(['formatDateTime(', time, ", '%Y-%m')"]),
      join(['replaceAll(', text, ", 'a', 'bb')"]),
      join(['extract(', text, ", '[0-9]+')"]),
      join(['nullIf(', text, ', ', text, ')']),
      join(['concat(', text, ', ', fc.oneof(number, condition), ')']),
      join([text, ' || ', text]),
      join(['substring(', text, ', 2, 3)']),
      join(['if(', condition, ', ', text, ', ', text, ')']),
      join(['CASE WHEN ', condition, ' THEN ', text, ' ELSE NULL END']),
      join(['coalesce(', text, ', ', text, ')']),
      join(["splitByChar('-', ", text, ')[1]']),
      join(['toString(', fc.oneof(number, time, condition), ')']),
      join(['(', text, ')']),
    ),
    number: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      one('Duration', 'SeverityNumber', 'Value', 'Score', "Counters['hits']", 'Buckets[1]'),
      NUMBER,
      join([number, ' ', one('+', '-', '*', '/', '%'), ' ', fc.oneof(number, text)]),
      join(['- ', number]),
      join(['length(', text, ')']),
      join(['position(', text, ', ', text, ')']),
      join(['JSONExtractFloat(', text, ", 'a')"]),
      join([one('cityHash64', 'least', 'nullIf'), '(', number, ', ', number, ')']),
      join([one('abs', 'sqrt', 'toInt8', 'toUInt64', 'floor', 'sign'), '(', number, ')']),
      join(['toInt32OrZero(', text, ')']),
      join(['round(', number, ', 2)']),
      join(['if(', condition, ', ', number, ', ', number, ')']),
      join(['greatest(', number, ', ', number, ')']),
      join(['coalesce(', number, ', ', number, ')']),
      join([one('toHour', 'toUnixTimestamp'), '(', time, ')']),
      join(["dateDiff('minute', ", time, ', ', time, ')']),
      join(['(', number, ')']),
    ),
    time: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      one('Timestamp', 'Seconds', 'Day'),
      join([time, ' + INTERVAL ', fc.nat(50).map(String), ' ', UNIT]),
      join(['toStartOfDay(', time, ", 'Asia/Tokyo')"]),
      join([one('toDate', 'toMonday', 'toStartOfHour', 'toDateTime', 'toStartOfYear'), '(', time, ')']),
      join([one('greatest', 'coalesce', 'ifNull', 'nullIf'), '(', time, ', ', time, ')']),
      join(['parseDateTimeBestEffortOrNull(', text, ')']),
      join(['if(', condition, ', ', time, ', ', time, ')']),
      join(['(', time, ')']),
    ),
    condition: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      one('IsError', 'true', 'FALSE', "mapContains(LogAttributes, 'x')", "has(Events.Name, 'retry')", 'Duration'),
      join([number, ' ', COMPARISON, ' ', fc.oneof(number, text)]),
      join([text, ' ', COMPARISON, ' ', text]),
      join([time, ' ', COMPARISON, ' ', fc.oneof(time, one("'2026-11-15'", "'2026-11-15T12:00:00.5+02:00'"))]),
      join([text, one(' LIKE ', ' ilike ', ' NOT LIKE '), one("'%a%'", "'_p%'", "'\\\\\\\\%'")]),
      join([text, one(' IN ', ' NOT IN '), one("('a', 'it''s')", '(1, 2.5)', '(500)')]),
      join([number, one(' IN ', ' NOT IN '), one('(1, -2)', "('7')", '(18446744073709551615, 1)')]),
      join([number, one(' BETWEEN ', ' NOT BETWEEN '), number, ' AND ', number]),
      join([fc.oneof(text, number, time, condition), one(' IS NULL', ' IS NOT NULL')]),
      join([condition, ' AND ', condition]),
      join([condition, ' OR ', condition]),
      join(['NOT ', condition]),
      join(['match(', text, ", '^[a-z]+$')"]),
      join(['has(Buckets, ', number, ')']),
      join(['has(Events.Name, ', text, ')']),
      join([condition, ' ', COMPARISON, ' (', fc.oneof(condition, number), ')']),
      join([one('startsWith', 'endsWith'), '(', text, ', ', text, ')']),
      join(['nullIf(', condition, ', true)']),
      join(['(', condition, ')']),
    ),
  };
});
