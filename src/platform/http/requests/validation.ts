import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  FastifySchemaCompiler,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError, atPlace, formatViolation, type Place, type Violation } from '../../../kernel/errors.ts';
import { listViolations } from '../../../kernel/schemas/violations.ts';

/** Types handlers by the schemas of their route. */
export interface SchemaTypes extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  SchemaTypes
>;

/** Registers the routes of a domain. */
export type Routes = (app: App) => void;

const PLACES: Record<string, Place> = {
  body: 'request body',
  querystring: 'query',
  headers: 'header',
};
/** The rest of the value is not checked. */
const MAX_VIOLATIONS = 200;
/** In the message of a management error. */
const MAX_LISTED_VIOLATIONS = 20;

/** Path parameters are not validated here: the guard checks them before the organization. */
const compiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  if (httpPart === 'params') return () => true;
  const check = createCheck(schema, PLACES[httpPart ?? 'body'] ?? 'request body');
  const convert = httpPart === 'querystring' ? createQueryConversion(schema) : (value: unknown) => value;
  return (received: unknown) => {
    const value = convert(received);
    const error = check(value);
    return error ? { error } : { value };
  };
};

/** Parameters are text. Those that the schema declares as integers or lists are converted; other text is left to the check. */
function createQueryConversion(schema: TSchema): (query: unknown) => unknown {
  const properties = Object.entries((schema as { properties?: Record<string, { type?: string }> }).properties ?? {});
  const listNames = (type: string) => properties.flatMap(([name, property]) => (property.type === type ? [name] : []));
  const [integers, lists] = [listNames('integer'), listNames('array')];
  if (integers.length + lists.length === 0) return (query) => query;
  return (query) => {
    const converted: Record<string, unknown> = { ...(query as object) };
    for (const name of integers) {
      const text = converted[name];
      if (typeof text === 'string' && /^\d{1,15}$/.test(text)) converted[name] = Number(text);
    }
    for (const name of lists) if (typeof converted[name] === 'string') converted[name] = [converted[name]];
    return converted;
  };
}

/** Throws if the path parameters violate the schema. */
export function createPathCheck(schema: TSchema | undefined): (params: unknown) => void {
  if (!schema) return () => {};
  const check = createCheck(schema, 'path');
  return (params) => {
    const error = check(params);
    if (error) throw error;
  };
}

function createCheck(schema: TSchema, place: Place): (value: unknown) => AppError | undefined {
  // Compiled for the first value: all schemas take a noticeable part of the time of a start.
  let validator: ReturnType<typeof Compile> | undefined;
  return (value) => {
    validator ??= Compile(schema);
    if (validator.Check(value)) return undefined;
    return violationError(listViolations(schema, value, place, MAX_VIOLATIONS), place);
  };
}

/**
 * The error handler of a route with rules that its schema cannot express: if the body violates the schema, the response
 * also names what `list` finds (M3). Without schema violations, the operation checks its rules itself.
 */
export const alsoNaming =
  (list: (request: FastifyRequest) => Promise<Violation[]>) =>
  async (error: Error, request: FastifyRequest): Promise<never> => {
    if (!(error instanceof AppError) || error.place !== 'request body') throw error;
    const { violations } = atPlace(new AppError('bad_request', '', { violations: await list(request) }), error.place);
    const unnamed = violations.filter(({ path }) => !error.violations.some((known) => known.path === path));
    throw violationError([...error.violations, ...unnamed], error.place);
  };

function violationError(violations: Violation[], place: Place): AppError {
  const listed = violations.slice(0, MAX_LISTED_VIOLATIONS).map(formatViolation);
  const more = violations.length - listed.length;
  if (more > 0) listed.push(`and ${more} more`);
  return new AppError('bad_request', listed.join('; '), { violations, place });
}

/** The query of an operation without query parameters: unknown parameters are rejected (decision B4). */
export const NoQuery = Type.Object({}, { additionalProperties: false });

/** For a route that parses its body itself: the body schema is documentation only. */
export const withoutBodyValidation: FastifySchemaCompiler<TSchema> = (route) =>
  route.httpPart === 'body' ? () => true : compiler(route);

export function validateWithSchemas(app: App): void {
  app.setValidatorCompiler(compiler);
  app.addHook('onRoute', (route) => {
    if (route.config?.roles && !route.schema?.querystring) route.schema = { ...route.schema, querystring: NoQuery };
  });
}
