import { parse as parseHandlebars } from '@handlebars/parser';
import type { Call, Expression, Program, Statement } from './template-ast.ts';

export const MAX_TEMPLATE_CHARACTERS = 16_384;
const MAX_NESTED_BLOCKS = 32;
const MAX_NESTED_PARENTHESES = 8;
export const MAX_PATH_PARTS = 32;

/** The blocks of the subset, and the number of their arguments. */
const BLOCKS: Readonly<Record<string, number>> = { if: 1, unless: 1, each: 1, with: 1, is_match: 2 };
/** What can stand in parentheses. */
const HELPERS: Readonly<Record<string, number>> = { eq: 2, is_match: 2 };
const SUPPORTED = 'paths, #if, #unless, #each, #with, else, eq and is_match are supported';

/** A template that breaks a rule, with the position in the message. */
export class TemplateError extends Error {}

/** Throws if the template is not valid, or uses something outside of the subset. */
export function parseTemplate(template: string): Program {
  if (template.length > MAX_TEMPLATE_CHARACTERS)
    throw new TemplateError(`The template must have at most ${MAX_TEMPLATE_CHARACTERS} characters`);
  // The time of the parser grows with the square of the depth.
  checkDepth(template);
  const program = parse(template);
  checkProgram(program);
  return program;
}

function parse(template: string): Program {
  try {
    return parseHandlebars(template) as unknown as Program;
  } catch (error) {
    throw new TemplateError(formatParseError((error as Error).message));
  }
}

/** The parser writes several lines: the position, the place and what it expected there. */
function formatParseError(message: string): string {
  const [, line] = /error on line (\d+)/.exec(message) ?? [];
  if (line === undefined) return `The template is not valid: ${message.split('\n', 1)[0]}`;
  const place = message.split('\n')[1] ?? '';
  return `The template is not valid on line ${line}, near ${JSON.stringify(place.slice(-40))}`;
}

function checkDepth(template: string): void {
  let parentheses = 0;
  let blocks = 0;
  for (const [token] of template.matchAll(/\{\{\{*~?[#^/]|\}\}|[()]/g)) {
    if (token === '}}') parentheses = 0;
    else if (token === '(') parentheses++;
    else if (token === ')') parentheses = Math.max(0, parentheses - 1);
    else blocks += token.endsWith('/') ? -1 : 1;
    if (parentheses > MAX_NESTED_PARENTHESES)
      throw new TemplateError(`The template must have at most ${MAX_NESTED_PARENTHESES} nested parentheses`);
    if (blocks > MAX_NESTED_BLOCKS)
      throw new TemplateError(`The template must have at most ${MAX_NESTED_BLOCKS} nested blocks`);
  }
}

const fail = ({ loc }: Statement | Expression, rule: string): never => {
  throw new TemplateError(`${rule} (line ${loc.start.line}, column ${loc.start.column + 1})`);
};

function checkProgram({ body }: Program): void {
  for (const statement of body) checkStatement(statement);
}

function checkStatement(statement: Statement): void {
  switch (statement.type) {
    case 'ContentStatement':
    case 'CommentStatement':
      return;
    case 'MustacheStatement':
      // A helper in a value, such as {{eq a b}}, is the same as in parentheses.
      if (statement.params.length > 0 || statement.hash) checkCall(statement, HELPERS);
      else checkExpression(statement.path);
      return;
    case 'BlockStatement':
      checkCall(statement, BLOCKS);
      for (const program of [statement.program, statement.inverse]) {
        if (program?.blockParams?.length) fail(statement, `Block parameters are not supported; ${SUPPORTED}`);
        if (program) checkProgram(program);
      }
      return;
    default:
      unsupported(statement);
  }
}

function checkCall(call: Call, known: Readonly<Record<string, number>>): void {
  const name = getCallName(call);
  const count = Object.hasOwn(known, name) ? known[name] : undefined;
  if (count === undefined) fail(call, `${JSON.stringify(name.slice(0, 40))} is not supported; ${SUPPORTED}`);
  if (call.hash) fail(call, `${name} has no named arguments`);
  if (call.params.length !== count) fail(call, `${name} needs ${count} argument${count === 1 ? '' : 's'}`);
  for (const param of call.params) checkExpression(param);
}

export const getCallName = ({ path }: Call): string => (path.type === 'PathExpression' ? path.original : path.type);

function checkExpression(expression: Expression): void {
  switch (expression.type) {
    case 'SubExpression':
      checkCall(expression, HELPERS);
      return;
    case 'PathExpression':
      if (expression.parts.some((part) => typeof part !== 'string'))
        fail(expression, `Computed paths are not supported; ${SUPPORTED}`);
      if (expression.parts.length > MAX_PATH_PARTS || expression.depth > MAX_NESTED_BLOCKS)
        fail(expression, `A path must have at most ${MAX_PATH_PARTS} parts`);
      return;
    case 'StringLiteral':
    case 'NumberLiteral':
    case 'BooleanLiteral':
    case 'NullLiteral':
    case 'UndefinedLiteral':
      return;
    default:
      unsupported(expression);
  }
}

/** Other kinds of nodes: partials, decorators, arrays. */
const unsupported = (node: never): never => fail(node, `${(node as Statement).type} is not supported; ${SUPPORTED}`);
