/** Longer is no event: an id and a source of 256 characters, all escaped, stay below. */
const MAX_EVENT_CHARACTERS = 16_384;

/** Text that stands for itself, and numbers as JSON writes them. */
const PLAIN_TEXT = '"([^"\\\\\\u0000-\\u001f]*)"';
const NUMBER = '(-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)';

const MEMBERS = ['id', 'source', 'time', 'entityType', 'entityId', 'meter', 'quantity'] as const;

/** How an event was written: with which members in which order, and where a value stands in what the pattern finds. */
interface Form {
  pattern: RegExp;
  places: Record<(typeof MEMBERS)[number], number>;
  isQuantityNumber: boolean;
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
    if (form && found) return eventIn(form, found);
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

/** Undefined for everything that is not exactly an event. */
function formOf(value: unknown): Form | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const names = Object.keys(value);
  if (names.length !== MEMBERS.length || !MEMBERS.every((name) => names.includes(name))) return undefined;
  const isQuantityNumber = typeof (value as { quantity: unknown }).quantity === 'number';
  const written = names.map((name) => `"${name}": ?${name === 'quantity' && isQuantityNumber ? NUMBER : PLAIN_TEXT}`);
  return {
    pattern: new RegExp(`^\\{${written.join(', ?')}\\}$`),
    places: Object.fromEntries(names.map((name, index) => [name, index + 1])) as Form['places'],
    isQuantityNumber,
  };
}

const eventIn = ({ places, isQuantityNumber }: Form, found: RegExpExecArray) => ({
  id: found[places.id],
  source: found[places.source],
  time: found[places.time],
  entityType: found[places.entityType],
  entityId: found[places.entityId],
  meter: found[places.meter],
  quantity: isQuantityNumber ? Number(found[places.quantity]) : found[places.quantity],
});
