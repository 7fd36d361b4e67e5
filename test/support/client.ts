import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';

export interface Credentials {
  keyId: string;
  keySecret: string;
}

export interface Call {
  method?: string;
  /** Below the base URL, query included. */
  path: string;
  key?: Credentials;
  token?: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged, instead of `body`. */
  text?: string | Uint8Array;
  headers?: Record<string, string>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape, and a wrong access fails the test
export type Json = any;

export interface ApiResponse {
  status: number;
  headers: Headers;
  text: string;
  json: Json;
}

interface DocumentedResponse {
  $ref?: string;
  content?: Record<string, { schema: object }>;
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, DocumentedResponse> }>>;
  components: { responses: Record<string, DocumentedResponse> };
}

/** What `npm run docs` has written; a test compares it with the document of a server. */
const DOCUMENT: Document = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8'));
const DOCUMENT_ID = 'openapi.json';

const ajv = new Ajv2020({ strict: false, allErrors: true });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema(DOCUMENT, DOCUMENT_ID);

const escapePointer = (name: string): string => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));

/** Of the schema at this path of the document; compiled once for all servers. */
function getValidator(path: string[]): ValidateFunction {
  const validate = ajv.getSchema(`${DOCUMENT_ID}#/${path.map(escapePointer).join('/')}`);
  if (!validate) throw new Error(`no schema at ${path.join(' → ')}`);
  return validate;
}

/** A client over real HTTP. Every response of a documented operation must match the OpenAPI document. */
export function createClient(
  target: () => { url: string; dashboardUrl: string },
): (call: Call) => Promise<ApiResponse> {
  return async (call) => {
    const { method = 'GET', path } = call;
    const { url, dashboardUrl } = target();
    const base = path.startsWith('/api/v2') ? dashboardUrl : url;
    const response = await send(base, call);
    expectDocumented(method, path, response);
    return response;
  };
}

async function send(base: string, call: Call): Promise<ApiResponse> {
  const { method = 'GET', path, body } = call;
  const payload = call.text ?? (body === undefined ? null : JSON.stringify(body));
  const response = await fetch(base + path, {
    method,
    headers: createHeaders(call),
    body: payload as RequestInit['body'],
    redirect: 'manual',
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
}

function createHeaders({ key, token, body, headers = {} }: Call): Record<string, string> {
  const sent: Record<string, string> = { ...headers };
  if (key) sent.authorization ??= `Basic ${Buffer.from(`${key.keyId}:${key.keySecret}`).toString('base64')}`;
  if (token) sent.authorization ??= `Bearer ${token}`;
  if (body !== undefined) sent['content-type'] ??= 'application/json';
  return sent;
}

function expectDocumented(method: string, path: string, { status, headers, json, text }: ApiResponse): void {
  if (method === 'HEAD') return;
  const segments = (path.split('?')[0] ?? '').split('/');
  const pattern = Object.keys(DOCUMENT.paths).find((candidate) => {
    const parts = candidate.split('/');
    return (
      parts.length === segments.length && parts.every((part, index) => part.startsWith('{') || part === segments[index])
    );
  });
  const operation = pattern === undefined ? undefined : DOCUMENT.paths[pattern]?.[method.toLowerCase()];
  if (!operation) return;
  const documented = operation.responses[String(status)];
  expect(documented, `${method} ${pattern} responded with ${status}, which is not documented`).toBeDefined();
  const shared = /^#\/components\/responses\/(\w+)$/.exec(documented?.$ref ?? '')?.[1];
  const response = shared === undefined ? documented : DOCUMENT.components.responses[shared];
  // Files are documented by their content type only, and a 304 has no content.
  const type = headers.get('content-type')?.split(';', 1)[0] ?? '';
  if (type !== 'application/json' && (response?.content?.[type] || (text === '' && !response?.content))) return;
  const isDocumented = response?.content?.['application/json'] !== undefined;
  expect(isDocumented, `${method} ${pattern} responded with ${status} and ${type}, which is not documented`).toBe(true);
  const at =
    shared === undefined
      ? ['paths', pattern ?? '', method.toLowerCase(), 'responses', String(status)]
      : ['components', 'responses', shared];
  const validate = getValidator([...at, 'content', 'application/json', 'schema']);
  expect(
    validate(json),
    `${method} ${pattern} ${status}: ${ajv.errorsText(validate.errors)}\n${text.slice(0, 2000)}`,
  ).toBe(true);
}
