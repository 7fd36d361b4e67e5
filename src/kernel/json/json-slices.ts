import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** About 10 ms of work at most: a new member name takes about 2 µs. */
const SLICE_CHARACTERS = 32 * 1024;
/** JSON.parse takes at most a few milliseconds for this many characters. */
const SHORT_CHARACTERS = 2 * SLICE_CHARACTERS;

/** As JSON.parse, but other requests run while a long text is parsed. The caller limits the depth. */
export async function parseJsonInSlices(text: string): Promise<unknown> {
  if (text.length <= SHORT_CHARACTERS) return JSON.parse(text);
  const parser = createParser(text);
  while (!parser.parseSlice()) await yieldToEventLoop();
  await yieldToEventLoop();
  return parser.result();
}

/** Whether `parseJsonInSlices` parses the text at once. */
export const isShortJson = (text: string): boolean => text.length <= SHORT_CHARACTERS;

/** As JSON.stringify for an object whose last member is a list or generator, but other requests run while a long list is rendered. */
export async function stringifyInSlices<T extends object>(object: T, listName: keyof T & string): Promise<string> {
  const { [listName]: list, ...rest } = object;
  const elements: string[] = [];
  let characters = 0;
  for (const element of list as Iterable<unknown>) {
    const text = JSON.stringify(element);
    elements.push(text);
    characters += text.length;
    if (characters < SHORT_CHARACTERS) continue;
    characters = 0;
    await yieldToEventLoop();
  }
  return `${JSON.stringify(rest).slice(0, -1)},"${listName}":[${elements.join(',')}]}`;
}

type Container = { list: unknown[] } | { object: Record<string, unknown>; name: string };

const WHITESPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERALS: readonly [string, unknown][] = [
  ['true', true],
  ['false', false],
  ['null', null],
];
const [QUOTE, BACKSLASH] = [34, 92];

function createParser(text: string) {
  const open: Container[] = [];
  let at = 0;
  let root: unknown;
  let expects: 'value' | 'value or end' | 'name' | 'name or end' | 'comma or end' | 'nothing' = 'value';
  /** The parts of a long string that is not complete yet, and where its next part starts. */
  let parts: string[] | undefined;
  let partStart = 0;

  const unexpected = () => new SyntaxError(`The text at position ${at} is not JSON`);

  function skipWhitespace(): void {
    WHITESPACE.lastIndex = at;
    WHITESPACE.test(text);
    at = WHITESPACE.lastIndex;
  }

  function add(value: unknown): void {
    const container = open.at(-1);
    if (!container) root = value;
    else if ('list' in container) container.list.push(value);
    else setMember(container.object, container.name, value);
    expects = container ? 'comma or end' : 'nothing';
  }

  function close(): void {
    at++;
    const container = open.pop();
    if (!container) throw unexpected();
    add('list' in container ? container.list : container.object);
  }

  /** Undefined if the string continues after `end`. */
  function parseString(end: number): string | undefined {
    for (let escapeStart = -ESCAPE_CHARACTERS; at < text.length; at++) {
      const code = text.charCodeAt(at);
      // An escape is never split: its first character is a backslash, and the others follow within its length.
      const canSplit = code === BACKSLASH || at - escapeStart >= ESCAPE_CHARACTERS;
      if (at >= end && at - partStart >= SLICE_CHARACTERS && canSplit) {
        parts ??= [];
        parts.push(parsePart());
        partStart = at;
        return undefined;
      }
      if (code === BACKSLASH) escapeStart = at++;
      else if (code === QUOTE) {
        const last = parsePart();
        const whole = parts ? [...parts, last].join('') : last;
        parts = undefined;
        at++;
        return whole;
      }
    }
    throw unexpected();
  }

  const parsePart = (): string => JSON.parse(`"${text.slice(partStart, at)}"`);

  function parseNumber(): number {
    NUMBER.lastIndex = at;
    if (!NUMBER.test(text)) throw unexpected();
    const number = Number(text.slice(at, NUMBER.lastIndex));
    at = NUMBER.lastIndex;
    return number;
  }

  function parseScalar(): unknown {
    const literal = LITERALS.find(([name]) => text.startsWith(name, at));
    if (!literal) return parseNumber();
    at += literal[0].length;
    return literal[1];
  }

  function readString(end: number): void {
    const string = parseString(end);
    if (string === undefined) return;
    if (expects === 'value' || expects === 'value or end') add(string);
    else readName(string);
  }

  function readName(name: string): void {
    const container = open.at(-1);
    skipWhitespace();
    if (!container || !('object' in container) || text[at++] !== ':') throw unexpected();
    container.name = name;
    expects = 'value';
  }

  function canClose(character: string | undefined): boolean {
    if (expects === 'value or end') return character === ']';
    if (expects === 'name or end') return character === '}';
    const container = open.at(-1);
    return expects === 'comma or end' && container !== undefined && character === ('list' in container ? ']' : '}');
  }

  function readValue(character: string | undefined): void {
    if (character === '[' || character === '{') {
      at++;
      open.push(character === '[' ? { list: [] } : { object: {}, name: '' });
      expects = character === '[' ? 'value or end' : 'name or end';
    } else add(parseScalar());
  }

  function readComma(character: string | undefined): void {
    const container = open.at(-1);
    if (character !== ',' || !container) throw unexpected();
    at++;
    expects = 'list' in container ? 'value' : 'name';
  }

  function readToken(end: number): void {
    if (!parts) skipWhitespace();
    const character = text[at];
    if (parts) readString(end);
    else if (canClose(character)) close();
    else if (expects === 'comma or end') readComma(character);
    else if (character === '"') {
      partStart = ++at;
      readString(end);
    } else if (expects === 'value' || expects === 'value or end') readValue(character);
    else throw unexpected();
  }

  return {
    /** True when the whole text is parsed. Throws a SyntaxError if it is not JSON. */
    parseSlice(): boolean {
      const end = at + SLICE_CHARACTERS;
      while (at < end && expects !== 'nothing') readToken(end);
      if (expects !== 'nothing') return false;
      skipWhitespace();
      if (at !== text.length) throw unexpected();
      return true;
    },
    result: () => root,
  };
}

/** `\u00e9` */
const ESCAPE_CHARACTERS = 6;

/** `__proto__` is a member like any other. */
function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  else object[name] = value;
}
