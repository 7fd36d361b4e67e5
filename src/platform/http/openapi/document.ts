import { type Content, createSchemaNaming, type Operation, type Response, type Schema } from './components.ts';
import { EXAMPLES } from './examples.ts';
import { documentFailures } from './failures.ts';

export interface Document {
  paths?: Record<string, Record<string, Operation>>;
  components?: object;
}

/** Completes the document that the routes make: error responses, named schemas, and which bodies are required. */
export function completeDocument(document: Document): Document {
  const { schemas, lift } = createSchemaNaming();
  const responses: Record<string, Response> = {};
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  for (const entry of operations) {
    documentFailures(responses, entry);
    requireBody(entry.operation);
  }
  for (const { operation } of operations) for (const place of listSchemaPlaces(operation)) liftAt(place);
  for (const { content = {} } of Object.values(responses)) for (const place of Object.values(content)) liftAt(place);

  function liftAt(place: Content): void {
    if (place.schema) place.schema = lift(place.schema);
  }

  return {
    ...document,
    components: {
      ...document.components,
      schemas: sortByName(withExamples(schemas)),
      responses: sortByName(responses),
    },
  };
}

/** A missing body counts as an empty object (decision B5), or as an empty batch. */
function requireBody({ requestBody }: Operation): void {
  if (!requestBody) return;
  requestBody.required = Object.values(requestBody.content).some(({ schema }) => (schema?.required ?? []).length > 0);
}

function listSchemaPlaces({ parameters = [], requestBody, responses }: Operation): Content[] {
  return [
    ...parameters,
    ...Object.values(requestBody?.content ?? {}),
    ...Object.values(responses).flatMap((response) =>
      'content' in response ? Object.values(response.content ?? {}) : [],
    ),
  ];
}

const withExamples = (schemas: Record<string, Schema>): Record<string, Schema> =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      Object.hasOwn(EXAMPLES, name) ? { ...schema, examples: [EXAMPLES[name]] } : schema,
    ]),
  );

const sortByName = <T>(entries: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(entries).sort(([one], [other]) => (one < other ? -1 : 1)));
