import type { Completion, CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete';
import { schemaCompletionSource } from '@codemirror/lang-sql';
import { type Names, type Schema, toTableKey } from '../schema/schema.ts';
import { findStatement, quoteName } from '../statements.ts';
import { clickHouse } from './dialect.ts';

const NOTHING: CompletionSource = () => null;

/** Databases, tables, and columns after a dot. */
export function completeSchema(schema: Schema | undefined, database: string): CompletionSource {
  if (!schema) return NOTHING;
  const namespace: Record<string, Record<string, Completion[]>> = {};
  for (const { database: owner, name } of schema.tables) {
    namespace[owner] ??= {};
    namespace[owner][name] = toCompletions(schema, owner, name);
  }
  return schemaCompletionSource({ dialect: clickHouse, schema: namespace, defaultSchema: database });
}

/** Columns of the tables of the statement, functions and settings. */
export function completeNames(
  schema: Schema | undefined,
  names: Names | undefined,
  database: string,
): (context: CompletionContext) => CompletionResult | null {
  const fixed: Completion[] = [
    ...(names?.functions ?? []).map((name) => ({ label: name, type: 'function', detail: 'function' })),
    ...(names?.settings ?? []).map(({ name, type }) => ({
      label: name,
      type: 'property',
      detail: `setting, ${type}`,
      boost: -1,
    })),
  ];
  return (context) => {
    const word = context.matchBefore(/[A-Za-z_]\w*/);
    if (!word && !context.explicit) return null;
    const from = word?.from ?? context.pos;
    if (/[.`"']/.test(context.state.sliceDoc(from - 1, from))) return null;
    const statement = findStatement(context.state.doc.toString(), context.pos)?.text ?? '';
    const words = new Set(statement.match(/\w+/g));
    const columns = (schema?.tables ?? [])
      .filter(({ name, database: owner }) => words.has(name) && (owner === database || words.has(owner)))
      .flatMap(({ database: owner, name }) => toCompletions(schema, owner, name));
    const unique = new Map(columns.map((one) => [one.label, one]));
    return { from, options: [...unique.values(), ...fixed], validFor: /^\w*$/ };
  };
}

const toCompletions = (schema: Schema | undefined, database: string, table: string): Completion[] =>
  (schema?.columns.get(toTableKey(database, table)) ?? []).map(({ name, type }) => ({
    label: name,
    detail: type.length > 40 ? `${type.slice(0, 40)}…` : type,
    type: 'property',
    boost: 2,
    apply: quoteName(name),
  }));
