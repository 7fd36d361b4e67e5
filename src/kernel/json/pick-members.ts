import type { TSchema } from 'typebox';

/** The keywords that decide how a value is walked. */
interface Container {
  properties?: Record<string, TSchema>;
  additionalProperties?: unknown;
  items?: TSchema;
  anyOf?: TSchema[];
  type?: string;
}

/** The members that the schema defines, in its order and at every depth. The value is valid. */
export function pickMembers(schema: TSchema, value: unknown): unknown {
  const { properties, additionalProperties, items, anyOf } = schema as Container;
  if (anyOf) {
    const chosen = anyOf.find((one) => (one as Container).type === (Array.isArray(value) ? 'array' : typeof value));
    return chosen ? pickMembers(chosen, value) : value;
  }
  if (Array.isArray(value)) return items ? value.map((element) => pickMembers(items, element)) : value;
  if (typeof value !== 'object' || value === null || !properties || additionalProperties === true) return value;
  const picked: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(properties)) {
    const given = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    if (given !== undefined) picked[name] = pickMembers(member, given);
  }
  return picked;
}
