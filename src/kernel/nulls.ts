/** The part of a JSON Schema that determines where `null` is allowed. */
interface JsonSchema {
  type?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
}

/** Removes optional members that are `null`, unless their schema allows `null`. */
export function dropNulls(schema: object, value: unknown): void {
  const { items, properties, required = [] } = schema as JsonSchema;
  if (Array.isArray(value)) {
    if (items) for (const element of value) dropNulls(items, element);
  } else if (typeof value === 'object' && value !== null && properties) {
    dropNullMembers(properties, required, value as Record<string, unknown>);
  }
}

function dropNullMembers(
  properties: Record<string, JsonSchema>,
  required: readonly string[],
  object: Record<string, unknown>,
): void {
  for (const name of Object.keys(object)) {
    const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!member) continue;
    if (object[name] !== null) dropNulls(member, object[name]);
    else if (!required.includes(name) && !admitsNull(member)) delete object[name];
  }
}

const admitsNull = (schema: JsonSchema): boolean => schema.type === 'null' || (schema.anyOf ?? []).some(admitsNull);
