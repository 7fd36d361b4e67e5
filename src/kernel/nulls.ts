/** The part of a JSON Schema that says where `null` may stand. */
interface JsonSchema {
  type?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
}

/** `null` for an optional member means that it was left out, unless its schema gives `null` a meaning of its own. */
export function dropNulls(schema: object, value: unknown): void {
  const { items } = schema as JsonSchema;
  if (Array.isArray(value)) {
    if (items) for (const element of value) dropNulls(items, element);
  } else if (typeof value === 'object' && value !== null) {
    dropNullMembers(schema as JsonSchema, value as Record<string, unknown>);
  }
}

function dropNullMembers({ properties = {}, required = [] }: JsonSchema, object: Record<string, unknown>): void {
  for (const name of Object.keys(object)) {
    const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!member) continue;
    if (object[name] !== null) dropNulls(member, object[name]);
    else if (!required.includes(name) && !admitsNull(member)) delete object[name];
  }
}

const admitsNull = (schema: JsonSchema): boolean => schema.type === 'null' || (schema.anyOf ?? []).some(admitsNull);
