import { memoize } from '../../kernel/memo.ts';
import type { Block, Call, Expression, Program, Statement } from './template-ast.ts';
import { getCallName, MAX_PATH_PARTS, parseTemplate, TemplateError } from './template-parser.ts';

interface Limits {
  /** Of statements and expressions that are evaluated. */
  maxSteps?: number;
  maxCharacters?: number;
  /** Applied to every value that the template inserts. */
  escapeValue?(text: string): string;
}

const MAX_STEPS = 10_000;
const MAX_CHARACTERS = 65_536;

/** The values that a block sees; `parent` is what `../` refers to. */
interface Scope {
  value: unknown;
  /** `@index`, `@key`, `@first`, `@last` of `#each`. */
  data: Readonly<Record<string, unknown>>;
  parent: Scope | undefined;
}

/** Messages of an alert share a template. Few, because a long one takes up to a megabyte. */
const parseOnce = memoize(parseTemplate, 20);

/** Undefined if the template is valid; else the rule with the position. */
export function findTemplateViolation(template: string): string | undefined {
  try {
    parseTemplate(template);
    return undefined;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

/**
 * Renders a template in the syntax of Handlebars, of which it knows paths, #if, #unless, #each, #with, else, eq and
 * is_match. It is interpreted and never compiled to code, reads own properties only, and throws if it needs more steps or
 * writes more than the limits allow.
 */
export function renderTemplate(template: string, context: object, limits: Limits = {}): string {
  const { maxSteps = MAX_STEPS, maxCharacters = MAX_CHARACTERS, escapeValue = (text: string) => text } = limits;
  const program = parseOnce(template);
  let steps = 0;
  let output = '';

  function step(): void {
    if (++steps > maxSteps) throw new TemplateError(`The template needs more than ${maxSteps} steps`);
  }

  function write(text: string): void {
    output += text;
    if (output.length > maxCharacters)
      throw new TemplateError(`The rendered template has more than ${maxCharacters} characters`);
  }

  function renderProgram(part: Program | undefined, scope: Scope): void {
    for (const statement of part?.body ?? []) {
      step();
      renderStatement(statement, scope);
    }
  }

  function renderStatement(statement: Statement, scope: Scope): void {
    if (statement.type === 'ContentStatement') write(statement.value);
    else if (statement.type === 'BlockStatement') renderBlock(statement, scope);
    else if (statement.type === 'MustacheStatement') {
      const value = statement.params.length > 0 ? call(statement, scope) : evaluate(statement.path, scope);
      write(escapeValue(formatValue(value)));
    }
  }

  function renderBlock(block: Block, scope: Scope): void {
    const name = getCallName(block);
    const [first] = block.params;
    const value = name === 'is_match' || !first ? call(block, scope) : evaluate(first, scope);
    if (name === 'each') renderEach(block, listEntries(value), scope);
    else if (name === 'with' && isTruthy(value)) renderProgram(block.program, { ...scope, value, parent: scope });
    else if (name === 'with') renderProgram(block.inverse, scope);
    else renderProgram(isTruthy(value) !== (name === 'unless') ? block.program : block.inverse, scope);
  }

  function renderEach(block: Block, entries: ReturnType<typeof listEntries>, scope: Scope): void {
    if (entries.length === 0) renderProgram(block.inverse, scope);
    for (const [index, [key, value]] of entries.entries()) {
      step();
      const data = { ...scope.data, index, key, first: index === 0, last: index === entries.length - 1 };
      renderProgram(block.program, { value, data, parent: scope });
    }
  }

  function call(expression: Call, scope: Scope): boolean {
    const [left, right] = expression.params.map((param) => evaluate(param, scope));
    if (getCallName(expression) === 'eq') return left === right;
    // The first argument is the name of a path: {{#is_match "attributes.ServiceName" "api"}}.
    const found = typeof left === 'string' ? findPath(getRoot(scope), left.split('.')) : left;
    return found !== undefined && typeof found !== 'object' && formatValue(found) === formatValue(right);
  }

  function evaluate(expression: Expression, scope: Scope): unknown {
    step();
    if (expression.type === 'SubExpression') return call(expression, scope);
    if (expression.type !== 'PathExpression') return expression.type === 'NullLiteral' ? null : expression.value;
    const { parts, depth, data } = expression;
    let from: Scope | undefined = scope;
    for (let up = 0; up < depth; up++) from = from?.parent;
    return findPath(data ? from?.data : from?.value, parts as string[]);
  }

  renderProgram(program, { value: context, data: { root: context }, parent: undefined });
  return output;
}

function getRoot(scope: Scope): unknown {
  let root = scope;
  while (root.parent) root = root.parent;
  return root.value;
}

/** A name may contain dots: of the names that fit, the longest is taken. */
function findPath(value: unknown, parts: readonly string[]): unknown {
  if (parts.length === 0) return value;
  if (parts.length > MAX_PATH_PARTS) return undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (let length = parts.length; length > 0; length--) {
    const name = parts.slice(0, length).join('.');
    if (Object.hasOwn(value, name)) {
      const found = findPath((value as Record<string, unknown>)[name], parts.slice(length));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function listEntries(value: unknown): [key: string | number, value: unknown][] {
  if (Array.isArray(value)) return [...value.entries()];
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

/** As Handlebars: an empty list is false. */
const isTruthy = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value));

function formatValue(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
