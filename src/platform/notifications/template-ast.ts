/** What the parser returns, as far as templates use it. Its own types do not resolve in modules. */
interface Node {
  loc: { start: { line: number; column: number } };
}

export interface Program {
  body: Statement[];
  blockParams?: string[];
}

export type Statement = Content | Mustache | Block | (Node & { type: 'CommentStatement' });

interface Content extends Node {
  type: 'ContentStatement';
  value: string;
}

/** A name with arguments. */
interface CallParts extends Node {
  path: Expression;
  params: Expression[];
  hash?: object;
}

interface Mustache extends CallParts {
  type: 'MustacheStatement';
}

export interface Block extends CallParts {
  type: 'BlockStatement';
  program?: Program;
  inverse?: Program;
}

interface SubExpression extends CallParts {
  type: 'SubExpression';
}

export type Call = Mustache | Block | SubExpression;

interface Path extends Node {
  type: 'PathExpression';
  original: string;
  /** Starts with `@`. */
  data: boolean;
  /** The number of `../` in front. */
  depth: number;
  parts: (string | object)[];
}

interface Literal extends Node {
  type: 'StringLiteral' | 'NumberLiteral' | 'BooleanLiteral' | 'NullLiteral' | 'UndefinedLiteral';
  value?: string | number | boolean;
}

export type Expression = SubExpression | Path | Literal;
