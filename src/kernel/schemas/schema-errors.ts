import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Errors } from 'typebox/value';

/** The members of a JSON Schema error that we use; TypeBox and Ajv report the same ones. */
export interface SchemaError {
  keyword: string;
  instancePath: string;
  params: object;
  message?: string;
}

/** The keywords that decide how a value is walked. */
interface Container {
  properties?: Record<string, TSchema>;
  required?: readonly string[];
  additionalProperties?: unknown;
  items?: TSchema;
  maxItems?: number;
}

/**
 * Lists the errors of a value one by one, so that the caller can stop at any of them without walking the rest. Skips
 * valid elements of a list with a compiled check. A list that is too long is one error, and its elements are not walked.
 */
export function* listSchemaErrors(schema: TSchema, value: unknown, path = ''): Generator<SchemaError> {
  const { properties, items } = schema as Container;
  if (Array.isArray(value) && items) yield* listArrayErrors(schema, items, value, path);
  else if (properties && typeof value === 'object' && value !== null && !Array.isArray(value))
    yield* listObjectErrors(schema, properties, value as Record<string, unknown>, path);
  else yield* listOwnErrors(schema, value, path);
}

function* listArrayErrors(
  schema: TSchema,
  items: TSchema,
  list: readonly unknown[],
  path: string,
): Generator<SchemaError> {
  const { maxItems = Number.POSITIVE_INFINITY } = schema as Container;
  if (list.length > maxItems) {
    yield { keyword: 'maxItems', instancePath: path, params: { limit: maxItems } };
    return;
  }
  yield* listOwnErrors(getOuterSchema(schema), list, path);
  const isValid = getCheck(items);
  for (const [index, element] of list.entries())
    if (!isValid(element)) yield* listSchemaErrors(items, element, `${path}/${index}`);
}

function* listObjectErrors(
  schema: TSchema,
  properties: Record<string, TSchema>,
  object: Record<string, unknown>,
  path: string,
): Generator<SchemaError> {
  const { required = [], additionalProperties } = schema as Container;
  const missing = required.filter((name) => !Object.hasOwn(object, name));
  if (missing.length > 0) yield { keyword: 'required', instancePath: path, params: { requiredProperties: missing } };
  if (additionalProperties === false) {
    const unknown = Object.keys(object).filter((name) => !Object.hasOwn(properties, name));
    if (unknown.length > 0)
      yield { keyword: 'additionalProperties', instancePath: path, params: { additionalProperties: unknown } };
  }
  yield* listOwnErrors(getOuterSchema(schema), object, path);
  for (const [name, member] of Object.entries(properties))
    if (Object.hasOwn(object, name) && object[name] !== undefined)
      yield* listSchemaErrors(member, object[name], `${path}/${escapePointer(name)}`);
}

function listOwnErrors(schema: TSchema, value: unknown, path: string): SchemaError[] {
  return mergeUnions(Errors(schema, value)).map((error) => ({ ...error, instancePath: path + error.instancePath }));
}

/**
 * A failed union reports each of its members and then itself; only its own error is listed. If the value has the type of
 * a member that may also be null, the rules of that member are listed instead.
 */
function mergeUnions(errors: readonly SchemaError[]): SchemaError[] {
  const unions = new Map(
    errors
      .filter((error) => error.keyword === 'anyOf')
      .map(({ instancePath }) => [instancePath, listTypes(errors, instancePath)]),
  );
  return errors.flatMap((error) => {
    const { keyword, instancePath } = error;
    const types = unions.get(instancePath);
    if (keyword === 'boolean') return [];
    if (types === undefined) return [error];
    if (types.length === 1 && types[0] === 'null') return keyword === 'anyOf' || keyword === 'type' ? [] : [error];
    return keyword === 'anyOf' ? [{ ...error, params: { types } }] : [];
  });
}

function listTypes(errors: readonly SchemaError[], path: string): string[] {
  return errors.flatMap(({ keyword, instancePath, params }) =>
    keyword === 'type' && instancePath === path ? [String((params as { type?: string }).type)] : [],
  );
}

const outerSchemas = new WeakMap<TSchema, TSchema>();

/** The schema of a list or object without that of its contents. */
function getOuterSchema(schema: TSchema): TSchema {
  let outer = outerSchemas.get(schema);
  if (!outer) {
    const contents = new Set(['properties', 'required', 'additionalProperties', 'items']);
    const entries = Object.entries(Object.getOwnPropertyDescriptors(schema)).filter(([name]) => !contents.has(name));
    outer = Object.defineProperties({}, Object.fromEntries(entries)) as TSchema;
    outerSchemas.set(schema, outer);
  }
  return outer;
}

const checks = new WeakMap<TSchema, (value: unknown) => boolean>();

function getCheck(schema: TSchema): (value: unknown) => boolean {
  let check = checks.get(schema);
  if (!check) {
    const validator = Compile(schema);
    check = (value) => validator.Check(value);
    checks.set(schema, check);
  }
  return check;
}

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
