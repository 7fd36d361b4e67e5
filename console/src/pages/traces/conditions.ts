import type { TracesSearch } from './search.ts';

/** How a language writes conditions on whole values. */
export interface Dialect {
  equals(expression: string, value: string): string;
  hasEntry(map: string, key: string, value: string): string;
}

const quote = (text: string, mark: string): string =>
  mark + text.replaceAll('\\', '\\\\').replaceAll(mark, `\\${mark}`) + mark;

/** It can name any key of a map. */
export const SQL: Dialect = {
  equals: (expression, value) => `${expression} = ${quote(value, "'")}`,
  hasEntry: (map, key, value) => `${map}[${quote(key, "'")}] = ${quote(value, "'")}`,
};

const LUCENE: Dialect = {
  equals: (expression, value) => `${expression}:${quote(value, '"')}`,
  hasEntry: (map, key, value) => `${map}.${key}:${quote(value, '"')}`,
};

export const both = (...conditions: string[]): string => conditions.join(' AND ');

export const either = (...conditions: string[]): string => `(${conditions.join(' OR ')})`;

type Condition = Pick<TracesSearch, 'where' | 'lang'>;

/** A second condition in the language of the first, or in SQL if there is none. */
export function addCondition({ where, lang }: Condition, build: (dialect: Dialect) => string): Condition {
  if (!where) return { where: build(SQL), lang: 'sql' };
  return lang === 'sql'
    ? { where: both(`(${where})`, build(SQL)), lang }
    : { where: both(`(${where})`, build(LUCENE)) };
}
