import type { Budget } from '../budget.ts';
import type { Positioned } from '../operators.ts';
import type { Scope } from '../scope.ts';
import type { Token } from './lexer.ts';

/** The parser state that the parts of the grammar share. */
export interface SqlParser {
  readonly scope: Scope;
  readonly budget: Budget;
  peek(): Token;
  take(): Token;
  /** Takes the next token if it is this symbol. */
  symbol(text: string): boolean;
  /** Takes the next token if it is this keyword. */
  keyword(word: string): boolean;
  expectSymbol(text: string): void;
  expectKeyword(word: string): void;
  /** Parses a nested expression. */
  expression(): Positioned;
  /** Parses the whole text. */
  whole(): Positioned;
}

export function isKeyword(token: Token, word: string): boolean {
  return token.type === 'word' && token.text.toUpperCase() === word;
}
