/** Longer is no event: an id and a source of 256 characters, all escaped, stay below. */
const MAX_EVENT_CHARACTERS = 16_384;

/** Text that stands for itself, and numbers as JSON writes them. */
const PLAIN_TEXT = '"([^"\\\\\\u0000-\\u001f]*)"';
const NUMBER = '(-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)';
const PLAIN_NAME = /^[A-Za-z]+$/;

/** How one event was written: the names of its members, and which of them are numbers. */
interface Form {
  pattern: RegExp;
  members: { name: string; isNumber: boolean }[];
}

/** The value of an event's text; undefined when it is no JSON, or too long to be an event. */
export type EventParser = (text: string | undefined) => unknown;

/**
 * The events of a batch are written alike. The first one is read as JSON and gives the form; the next ones are read by
 * it, in half the time. Whatever has another form is read as JSON again.
 */
export function createEventParser(): EventParser {
  let form: Form | undefined;
  return (text) => {
    if (text === undefined || text.length > MAX_EVENT_CHARACTERS) return undefined;
    const found = form?.pattern.exec(text);
    if (form && found) return valueIn(form, found);
    const value = parsed(text);
    form = formOf(value);
    return value;
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function formOf(value: unknown): Form | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  const isPlain = entries.every(
    ([name, member]) => PLAIN_NAME.test(name) && (typeof member === 'string' || typeof member === 'number'),
  );
  if (!isPlain || entries.length === 0) return undefined;
  const members = entries.map(([name, member]) => ({ name, isNumber: typeof member === 'number' }));
  const written = members.map(({ name, isNumber }) => `"${name}": ?${isNumber ? NUMBER : PLAIN_TEXT}`);
  return { pattern: new RegExp(`^\\{${written.join(', ?')}\\}$`), members };
}

function valueIn({ members }: Form, found: RegExpExecArray): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (let at = 0; at < members.length; at++) {
    const { name, isNumber } = members[at] as Form['members'][number];
    value[name] = isNumber ? Number(found[at + 1]) : found[at + 1];
  }
  return value;
}
