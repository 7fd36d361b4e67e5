import { acme, globex } from '../support/fleet.ts';
import { TROUBLESOME } from '../support/hostile.ts';
import { HOSTILE_EXPRESSIONS } from './expressions.ts';
import type { Random } from './random.ts';

export interface JsonSchema {
  type?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  multipleOf?: number;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  format?: string;
}

const NOW = Date.parse('2026-10-20T12:00:00Z');
const DATES = ['2026-10-01', '2026-10-15', '2026-10-31'];
const TIMES = ['2026-10-20T12:00:00Z', '2026-10-20T13:30:00+02:00', String(NOW)];
const SOURCES = ['logs', 'traces', 'metrics', acme.dashboard];
const COLUMNS = ['ServiceName', 'SeverityText', 'Body', 'Duration', "LogAttributes['ms']"];

/** Plausible values of members and parameters whose schema does not say what they mean. */
const PLAUSIBLE: Record<string, readonly unknown[]> = {
  sourceId: SOURCES,
  where: ['', 'error', 'ServiceName:"api"', 'SeverityText = 1', ...HOSTILE_EXPRESSIONS.map(({ text }) => text)],
  field: COLUMNS,
  groupBy: COLUMNS,
  fields: COLUMNS,
  source: ['10.0.0.0/8', '::1', '127.0.0.1', '0.0.0.0/0'],
  expireAt: ['2099-01-01T00:00:00Z', '', null],
  url: ['https://hooks.invalid/x', 'http://127.0.0.1:9/x'],
  timezone: ['UTC', 'Europe/Berlin', 'Asia/Tokyo'],
  from_date: DATES,
  to_date: DATES,
  month: ['2026-10', '2026-11'],
  start: TIMES,
  end: TIMES,
  startTime: [NOW - 3_600_000, NOW],
  endTime: [NOW, NOW + 60_000],
  time: TIMES,
  entityId: [acme.primary, acme.warehouse, globex.primary],
  keyIdHash: [`${'C'.repeat(42)}w=`],
  keySecretHash: [`${'D'.repeat(42)}w=`],
  keyIdSuffix: ['abcd'],
  thresholds: [50, 100, 'forecast'],
  name: ['Fuzzed', 'ünïcödé 😀', 'a'.repeat(255)],
  'if-match': ['*', '"x"', 'W/"x", "y"'],
  limit: ['1', '100'],
  groups: ['5'],
  before: [acme.id],
  cursor: ['', 'AAAAAAAAAAAAAAAAWyJ4Il0', 'x'.repeat(4096)],
  search: ['a', '%', '_', "'", '\\'],
  filter: ['tag:team', 'tag:team=data', 'tag:', 'name:x'],
};

/** A value that the schema allows. `name` is that of the member or parameter. */
export function generateValid(random: Random, schema: JsonSchema, name = ''): unknown {
  const plausible = PLAUSIBLE[name];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return random.pick(schema.enum);
  if (schema.type === 'array') return generateList(random, schema, name);
  if (schema.properties) return generateObject(random, schema);
  if (plausible && random.chance(0.9)) return random.pick(plausible);
  if (schema.anyOf) return generateValid(random, random.pick(schema.anyOf), name);
  switch (schema.type) {
    case 'integer':
    case 'number':
      return generateNumber(random, schema);
    case 'boolean':
      return random.chance(0.5);
    case 'null':
      return null;
    case 'object':
      return {};
    default:
      return schema.format === 'uuid'
        ? random.uuid()
        : 'x'.repeat(Math.max(schema.minLength ?? 0, random.integer(1, 12)));
  }
}

function generateList(random: Random, { items = {}, minItems = 0, maxItems = 3 }: JsonSchema, name: string): unknown[] {
  const length = random.integer(minItems, Math.min(maxItems, minItems + 2));
  return Array.from({ length }, () => generateValid(random, items, name));
}

function generateObject(random: Random, { properties = {}, required = [] }: JsonSchema): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(properties))
    if (required.includes(name) || random.chance(0.5)) object[name] = generateValid(random, schema, name);
  return object;
}

function generateNumber(random: Random, { minimum = 0, maximum = 1000, multipleOf, type }: JsonSchema): number {
  if (multipleOf) return multipleOf * random.integer(Math.ceil(minimum / multipleOf), Math.floor(maximum / multipleOf));
  const number = random.integer(Math.ceil(minimum), Math.floor(Math.min(maximum, minimum + 1e6)));
  return type === 'number' && random.chance(0.3) ? Math.min(maximum, number + 0.5) : number;
}

/** A valid value with one to three members replaced, removed, repeated or added. */
export function generateNearlyValid(random: Random, schema: JsonSchema): unknown {
  const value = generateValid(random, schema);
  if (typeof value !== 'object' || value === null) return generateWild(random);
  for (let count = random.integer(1, 3); count > 0; count--) {
    const places = listPlaces(value as Place['holder']);
    if (places.length === 0) break;
    const { holder, name } = random.pick(places);
    const change = random.integer(1, 100);
    if (change <= 15) delete holder[name];
    else if (change <= 30) holder[random.pick(['__proto__', 'constructor', 'extra', '', '\u0000'])] = holder[name];
    else holder[name] = generateWild(random);
  }
  return value;
}

interface Place {
  holder: Record<string, unknown>;
  name: string;
}

const listPlaces = (value: Place['holder']): Place[] =>
  Object.entries(value).flatMap(([name, member]) => [
    { holder: value, name },
    ...(typeof member === 'object' && member !== null ? listPlaces(member as Place['holder']) : []),
  ]);

/** Copies of the value, each with another one of its texts replaced. */
export function listTextChanges(value: unknown, text: string): unknown[] {
  const listTexts = (copy: unknown) =>
    listPlaces(Object(copy)).filter(({ holder, name }) => typeof holder[name] === 'string');
  return listTexts(value).map((_, index) => {
    const copy = structuredClone(value);
    const { holder, name } = listTexts(copy)[index] as Place;
    holder[name] = text;
    return copy;
  });
}

function generateWild(random: Random, depth = 0): unknown {
  if (depth < 4 && random.chance(0.1))
    return Array.from({ length: random.integer(0, 4) }, () => generateWild(random, depth + 1));
  if (depth < 4 && random.chance(0.1))
    return Object.fromEntries(
      Array.from({ length: random.integer(0, 4) }, () => [
        String(random.pick(TROUBLESOME)),
        generateWild(random, depth + 1),
      ]),
    );
  return random.pick(TROUBLESOME);
}

/** Bytes that are JSON, nearly JSON or nothing like it. */
export function generateWildBody(random: Random): string | Uint8Array {
  switch (random.integer(0, 6)) {
    case 0:
      return JSON.stringify(generateWild(random));
    case 1:
      return JSON.stringify({ x: generateWild(random) }).slice(0, -1);
    case 2:
      return Uint8Array.from({ length: random.integer(0, 200) }, () => random.integer(0, 255));
    case 3:
      return `${'['.repeat(random.integer(90, 110))}${']'.repeat(random.integer(90, 110))}`;
    case 4:
      return `{"name":${'9'.repeat(random.integer(1, 400))}}`;
    case 5:
      return `{"name":"x","name":${JSON.stringify(generateWild(random))}}`;
    default:
      return random.pick([
        '',
        'null',
        '[]',
        '{}',
        '\ufeff{}',
        ' ',
        'NaN',
        '{"a":1}{"a":2}',
        "{'a':1}",
        '{"a":1,}',
        '\0',
      ]);
  }
}

/** Text for a path segment or a query parameter, escaped or not. */
export function generateWildText(random: Random): string {
  const text = String(random.pick(TROUBLESOME)).toWellFormed().slice(0, 400);
  return random.chance(0.9)
    ? encodeURIComponent(text)
    : random.pick(['%', '%zz', '%ff', '..', '%2e%2e', '%00', '+', '[]', '&&', '=']);
}
