import { AppError } from '../../kernel/errors.ts';
import { type Token, tokenize } from './lexer.ts';

/**
 * Functions that read files without a privilege: grants cannot forbid them. They can also be passed to other functions by
 * name, so the name alone is refused. A column of that name is written with its table.
 */
const FILE_FUNCTIONS = ['file', 'catboostEvaluate'];

/** Table functions that need no privilege and have a list of columns as text, which can contain expressions (ALIAS). */
const STRUCTURE_FUNCTIONS = ['values', 'generaterandom', 'null', 'input'];
const COLUMN_EXPRESSION = /\b(?:alias|default|materialized|ephemeral)\b/i;

/** Names and quotes that only matter if something could be hidden in them. */
const SUSPICIOUS = /file|catboost|values|generaterandom|null|input|identifier|\\/i;

/** Throws if a statement could do what no grant of the reader forbids. Everything else is refused by ClickHouse itself. */
export function checkReaderStatement(sql: string, parameters: Readonly<Record<string, string>> = {}): void {
  if (!SUSPICIOUS.test(sql)) return;
  const tokens = [...tokenize(sql)]
    .filter(({ kind }) => kind !== 'space' && kind !== 'comment')
    .map(({ kind, start, end }) => ({ kind, text: sql.slice(start, end) }));
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'odd')
      throw refuse(
        'It has typographic quotes, a heredoc or an open quote, and a name that is also a function for files',
      );
    if (token.kind === 'word' || token.kind === 'quoted') checkName(readName(token), tokens, index, parameters);
  }
}

interface Part extends Pick<Token, 'kind'> {
  text: string;
}

function readName({ kind, text }: Part): string {
  if (kind === 'word') return text;
  if (text.includes('\\')) throw refuse('A quoted name must not contain a backslash');
  return text.slice(1, -1);
}

function checkName(
  name: string,
  tokens: readonly Part[],
  index: number,
  parameters: Readonly<Record<string, string>>,
): void {
  if (FILE_FUNCTIONS.includes(name) && tokens[index - 1]?.text !== '.')
    throw refuse(
      `${name} is a function that reads files. Write a column of that name with its table, such as t.${name}`,
    );
  if (STRUCTURE_FUNCTIONS.includes(name.toLowerCase()) && tokens[index + 1]?.text === '(')
    checkStructure(name, tokens[index + 2], tokens[index + 3]?.text);
  if (name === 'Identifier') checkParameters(parameters);
}

/** The first argument must be a list of columns without expressions, or a number. */
function checkStructure(name: string, first: Part | undefined, next: string | undefined): void {
  const isAlone = next === ',' || next === ')';
  const isPlain = first?.kind === 'text' && !first.text.includes('\\') && !COLUMN_EXPRESSION.test(first.text);
  if (isAlone && (isPlain || first?.kind === 'number')) return;
  throw refuse(`The first argument of ${name} must be a list of columns as text, without expressions`);
}

/** A parameter of the type Identifier can name a function. */
function checkParameters(parameters: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(parameters))
    if (FILE_FUNCTIONS.some((forbidden) => value.includes(forbidden)))
      throw refuse(`The parameter ${name} must not contain the name of a function that reads files`);
}

const refuse = (text: string): AppError => new AppError('forbidden', `The reader may not run this statement. ${text}`);
