import { parse as parseHandlebars } from '@handlebars/parser';
import type { Call, Expression, Program, Statement } from './template-ast.ts';

export const MAX_TEMPLATE_CHARACTERS = 16_384;
const MAX_NESTED_BLOCKS = 32;
const MAX_NESTED_PARENTHESES = 8;
/** The parser takes up to 10 µs for each. */
const MAX_PARTS = 3000;
/** Each is nested in the one before. */
const MAX_ELSES = 100;
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
  checkSize(template);
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

/** The start of a tag, with all braces of a run, and what kind of tag it is. */
const OPEN = /\{\{+~?(?:!--|!|#|\/|\^(?!\s*~?\}\})|\s*else\b)?/y;
/** The next part of a tag. A literal is one part, also one that never ends: there, the parser stops. */
const PART = /\s*(?:\}\}|"(?:\\"|[^"])*(?:"|$)|'(?:\\'|[^'])*(?:'|$)|\[[^\]]*(?:\]|$)|[^\s(){}[\]"'./]+|.|$)/sy;

/** Limits what the parser takes time for. Each character is read a fixed number of times. */
function checkSize(template: string): void {
  const counts = { parts: 0, elses: 0, blocks: 0 };
  for (let at = template.indexOf('{{'); at >= 0; at = template.indexOf('{{', at)) {
    OPEN.lastIndex = at;
    const open = OPEN.exec(template)?.[0] ?? '';
    const end = at + open.length;
    const isEscaped = template[at - 1] === '\\' && template[at - 2] !== '\\';
    counts.parts++;
    if (open.endsWith('else')) counts.elses++;
    else if (/[#^/]$/.test(open)) counts.blocks += open.endsWith('/') ? -1 : 1;
    if (isEscaped) at = end;
    else if (open.includes('!')) at = findCommentEnd(template, end, open.endsWith('-'));
    else at = countParts(template, end, counts);
    rejectMore(counts.parts, MAX_PARTS, 'parts in its tags');
    rejectMore(counts.blocks, MAX_NESTED_BLOCKS, 'nested blocks');
    rejectMore(counts.elses, MAX_ELSES, 'else');
  }
}

/** Returns the end of the tag. */
function countParts(template: string, start: number, counts: { parts: number }): number {
  let parentheses = 0;
  for (PART.lastIndex = start; PART.lastIndex < template.length; ) {
    const part = PART.exec(template)?.[0].trimStart() ?? '';
    rejectMore(++counts.parts, MAX_PARTS, 'parts in its tags');
    if (part === '(') rejectMore(++parentheses, MAX_NESTED_PARENTHESES, 'nested parentheses');
    else if (part === ')') parentheses = Math.max(0, parentheses - 1);
    else if (part === '}}' || part === '') return PART.lastIndex;
  }
  return template.length;
}

function findCommentEnd(template: string, start: number, isLong: boolean): number {
  const end = template.indexOf(isLong ? '--' : '}}', start);
  return end < 0 ? template.length : end;
}

function rejectMore(count: number, max: number, what: string): void {
  if (count > max) throw new TemplateError(`The template must have at most ${max} ${what}`);
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
