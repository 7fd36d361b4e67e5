import { isDeepStrictEqual } from 'node:util';

/** The parts of a JSON Schema that are read or written here. */
export interface Schema {
  $ref?: string;
  /** Keywords for the document only: a refinement enforces them with its own error text. */
  documented?: object;
  type?: string;
  title?: string;
  minimum?: number;
  description?: string;
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema | boolean;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  allOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
}

export interface Content {
  schema?: Schema;
}

export interface Response {
  description: string;
  headers?: Record<string, { description?: string; schema: Schema }>;
  content?: Record<string, Content>;
}

export interface Operation {
  parameters?: { name: string; in: string; schema?: Schema }[];
  requestBody?: { required?: boolean; content: Record<string, Content> };
  responses: Record<string, Response | { $ref: string }>;
  security?: object[];
}

type MapSchema = (schema: Schema) => Schema;

const SCHEMA_NAME = /^[A-Z][A-Za-z0-9]*$/;

/**
 * Replaces every schema that has a `title` by a reference to a component of that name. A description that differs from
 * the one of the component stays beside the reference. Two different schemas of one name are an error.
 */
export function createSchemaNaming(): { schemas: Record<string, Schema>; lift: MapSchema } {
  const schemas: Record<string, Schema> = {};

  function lift(schema: Schema): Schema {
    const { title, documented, ...own } = mapMembers(schema, lift);
    const named = { ...own, ...documented };
    if (title === undefined) return named;
    if (!SCHEMA_NAME.test(title)) throw new Error(`The schema title ${title} is not a type name such as ApiKey`);
    schemas[title] ??= named;
    const { description: shared, ...contents } = schemas[title];
    const { description, ...members } = named;
    if (!isDeepStrictEqual(members, contents))
      throw new Error(`Two different schemas have the title ${title}; give one of them another title`);
    const reference = { $ref: `#/components/schemas/${title}` };
    return description === undefined || description === shared ? reference : { ...reference, description };
  }

  return { schemas, lift };
}

/** `examples` and `default` are values, not schemas: a member `title` in them is not a name. */
function mapMembers(schema: Schema, map: MapSchema): Schema {
  const mapped: Schema = { ...schema };
  if (schema.properties)
    mapped.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => [name, map(member)]),
    );
  for (const keyword of ['items', 'additionalProperties', 'not'] as const) {
    const member = schema[keyword];
    if (typeof member === 'object') mapped[keyword] = map(member);
  }
  for (const keyword of ['anyOf', 'allOf', 'oneOf'] as const) {
    const members = schema[keyword];
    if (members) mapped[keyword] = members.map(map);
  }
  return mapped;
}
