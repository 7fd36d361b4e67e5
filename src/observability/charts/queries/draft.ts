import { AppError } from '../../../kernel/errors.ts';
import { ORGANIZATION_COLUMN } from '../../../platform/engine/engine.ts';
import type { Expression } from '../../expressions/expression.ts';
import { ExpressionError, pointAt } from '../../expressions/expression-error.ts';
import { parseLucene } from '../../expressions/lucene/lucene.ts';
import type { Scope } from '../../expressions/scope.ts';
import { parseCondition, parseValue } from '../../expressions/sql/sql.ts';
import { createWriter, quoteName } from '../../expressions/writer.ts';
import type { SeriesQuery, Table } from './series-query.ts';
import type { Range } from './time-buckets.ts';

/** Of all conditions of a query. Parsing them must not occupy the event loop for long. */
const MAX_CHARACTERS = 65_536;

export type Draft = ReturnType<typeof createDraft>;

/** The SQL fragments that every statement of a series consists of. User input is parsed and never copied into SQL. */
export function createDraft(
  query: SeriesQuery,
  /** Drafts of one statement share their writer. */
  writer = createWriter(),
) {
  const { organizationId, table, buckets, where, whereLanguage, filters = [], groupBy, path } = query;
  const scope = createScope(table);
  const time = quoteName(table.timeColumn);
  const value = (member: string, text: string): Expression => parsed(member, text, () => parseValue(text, scope));

  function parsed<T>(member: string, text: string, parse: () => T): T {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      throw queryError(memberPath(path, member), `${error.message} (${pointAt(text, error)})`);
    }
  }

  if ([where, ...filters].join('').length > MAX_CHARACTERS)
    throw queryError(memberPath(path, 'filters'), `All conditions together have at most ${MAX_CHARACTERS} characters`);
  const condition = parsed('where', where, () => parseWhere(where, whereLanguage, scope));
  const groups = groupBy.map((text, index) => writer.writeText(value(`groupBy[${index}]`, text)));
  const conditions = [
    condition,
    ...filters.map((text, index) => parsed(`filters[${index}]`, text, () => parseCondition(text, scope))),
    ...(query.conditions ?? []),
  ].flatMap((one) => (one ? [writer.write(one)] : []));

  return {
    writer,
    time,
    /** The index of a row's bucket. */
    bucket: buckets.indexSql(time, (number, type) => writer.bind(number, type)),
    /** SQL of `where` and `filters`, which all must hold. */
    conditions,
    groups: groups.map((sql, index) => `${sql} AS __g${index}`),
    groupNames: groups.map((_, index) => `__g${index}`),
    value,
    /** ` WHERE …` with all conditions, or an empty string. */
    where(...further: (string | undefined)[]): string {
      const all = [...conditions, ...further].filter((sql) => sql !== undefined);
      return all.length === 0 ? '' : ` WHERE ${all.map((sql) => `(${sql})`).join(' AND ')}`;
    },
    /** The rows of the organization in the range. `read` is another table with the same columns. */
    rows({ startMs, endMs }: Range = buckets, read: Table = table): string {
      return own(`${time} >= ${moment(startMs)} AND ${time} < ${moment(endMs)}`, read);
    },
    own,
    moment,
  };

  /**
   * The rows of the organization that meet a condition of ours. This inner query filters by organization and hides that
   * column, so no condition outside of it can reach other organizations.
   */
  function own(condition: string, read: Table = table): string {
    const from = `${quoteName(read.database)}.${quoteName(read.name)}`;
    if (!read.hasOrganization) return `SELECT * FROM ${from} WHERE ${condition}`;
    const isOwn = `${quoteName(ORGANIZATION_COLUMN)} = ${writer.bind(organizationId, 'String')}`;
    return `SELECT * EXCEPT (${quoteName(ORGANIZATION_COLUMN)}) FROM ${from} WHERE ${isOwn} AND ${condition}`;
  }

  function moment(ms: number): string {
    return `fromUnixTimestamp64Milli(${writer.bind(ms, 'Int64')})`;
  }
}

/** What the expressions of a series may use. */
export const createScope = ({ columns, implicitColumn }: SeriesQuery['table']): Scope => ({
  columns,
  ...(implicitColumn === undefined ? {} : { implicitColumn }),
});

export const parseWhere = (
  where: string,
  language: SeriesQuery['whereLanguage'],
  scope: Scope,
): Expression | undefined => (language === 'sql' ? parseCondition(where, scope) : parseLucene(where, scope));

/** A query whose members are those of the request itself has the path `''`. */
const memberPath = (path: string, member: string): string => (path === '' ? member : `${path}.${member}`);

export function rejectSeries({ path }: Pick<SeriesQuery, 'path'>, member: string, rule: string): never {
  throw queryError(memberPath(path, member), rule);
}

/** An invalid member of a query, with its path. */
export const queryError = (path: string, text: string): AppError =>
  new AppError('bad_request', `${path}: ${text}`, { field: path });
