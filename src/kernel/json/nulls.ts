/** The part of a JSON Schema that determines where `null` is allowed. */
interface JsonSchema {
  type?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  maxItems?: number;
  anyOf?: JsonSchema[];
}

/** Removes optional members that are `null`, unless their schema allows `null`. Ignores lists that are too long to be valid. */
export function dropNulls(schema: object, value: unknown): void {
  const { items, maxItems = Number.POSITIVE_INFINITY, properties, required = [] } = schema as JsonSchema;
  if (Array.isArray(value)) {
    if (items && value.length <= maxItems) for (const element of value) dropNulls(items, element);
  } else if (typeof value === 'object' && value !== null && properties) {
    dropNullMembers(properties, required, value as Record<string, unknown>);
  }
}

/** Looks up the members of the schema, because an object may have any number of others. */
function dropNullMembers(
  properties: Record<string, JsonSchema>,
  required: readonly string[],
  object: Record<string, unknown>,
): void {
  for (const name in properties) {
    const member = properties[name];
    if (!member || !Object.hasOwn(object, name)) continue;
    if (object[name] !== null) dropNulls(member, object[name]);
    else if (!required.includes(name) && !admitsNull(member)) delete object[name];
  }
}

const admitsNull = (schema: JsonSchema): boolean => schema.type === 'null' || (schema.anyOf ?? []).some(admitsNull);
