import { Ajv2020 } from 'ajv/dist/2020.js';
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
  /** Sent as it is, in place of `body`. */
  text?: string | Uint8Array;
  headers?: Record<string, string>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and a wrong look fails the test
export type Json = any;

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  json: Json;
}

interface Document {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema: object }> }> }>
  >;
}

/** Real HTTP, and every answer of a documented operation must be what the document promises. */
export function createClient(target: () => { url: string; dashboardUrl: string }): (call: Call) => Promise<Answer> {
  const documents = new Map<string, Promise<Document>>();
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);

  return async ({ method = 'GET', path, key, token, body, text, headers = {} }) => {
    const { url, dashboardUrl } = target();
    const base = path.startsWith('/api/v2') ? dashboardUrl : url;
    const sent: Record<string, string> = { ...headers };
    if (key) sent.authorization ??= `Basic ${Buffer.from(`${key.keyId}:${key.keySecret}`).toString('base64')}`;
    if (token) sent.authorization ??= `Bearer ${token}`;
    if (body !== undefined) sent['content-type'] ??= 'application/json';
    const response = await fetch(base + path, {
      method,
      headers: sent,
      body: (text ?? (body === undefined ? null : JSON.stringify(body))) as RequestInit['body'],
    });
    const answered = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    const answer: Answer = {
      status: response.status,
      headers: response.headers,
      text: answered,
      json: isJson && answered !== '' ? JSON.parse(answered) : undefined,
    };
    if (!documents.has(base))
      documents.set(
        base,
        fetch(`${base}/openapi.json`).then((document) => document.json() as Promise<Document>),
      );
    const document = await documents.get(base);
    if (document) expectDocumented(document, ajv, method, path, answer);
    return answer;
  };
}

function expectDocumented(
  document: Document,
  ajv: Ajv2020,
  method: string,
  path: string,
  { status, headers, json, text }: Answer,
): void {
  if (status === 304 || method === 'HEAD') return;
  const segments = (path.split('?')[0] ?? '').split('/');
  const pattern = Object.keys(document.paths).find((candidate) => {
    const parts = candidate.split('/');
    return (
      parts.length === segments.length && parts.every((part, index) => part.startsWith('{') || part === segments[index])
    );
  });
  const operation = pattern === undefined ? undefined : document.paths[pattern]?.[method.toLowerCase()];
  if (!operation) return;
  const { responses } = operation;
  const response = responses[String(status)] ?? responses[`${String(status)[0]}XX`];
  // A file is what its document calls it; there is nothing more to check.
  const type = headers.get('content-type')?.split(';', 1)[0] ?? '';
  if (type !== 'application/json' && response?.content?.[type]) return;
  const schema = response?.content?.['application/json']?.schema;
  expect(schema, `${method} ${pattern} answered ${status}, which its document does not have`).toBeDefined();
  const validate = ajv.compile(schema as object);
  expect(
    validate(json),
    `${method} ${pattern} ${status}: ${ajv.errorsText(validate.errors)}\n${text.slice(0, 2000)}`,
  ).toBe(true);
}
