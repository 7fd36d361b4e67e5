import { expect } from 'vitest';
import type { ApiResponse, Call, Credentials, Json } from './client.ts';

interface Server {
  url: string;
  call(call: Call): Promise<ApiResponse>;
}

type Attributes = Record<string, string>;

/** A token with the access ingest. */
export async function createIngestToken(
  { call }: Server,
  organization: { id: string; admin: Credentials },
  name = 'ingest',
): Promise<{ id: string; token: string }> {
  const path = `/v1/organizations/${organization.id}/dashboardTokens`;
  const { status, json } = await call({
    method: 'POST',
    path,
    key: organization.admin,
    body: { name, access: 'ingest' },
  });
  expect(status).toBe(200);
  return { id: json.result.dashboardToken.id, token: json.result.token };
}

const toAttributes = (attributes: Attributes): object[] =>
  Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }));

const nanos = (at: number): string => `${at}000000`;

/** Sends an OTLP/JSON request. */
export async function postOtlp({ url }: Server, token: string, signal: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return fetch(`${url}/otlp/v1/${signal}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function accept(response: Response): Promise<Json> {
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text);
}

/** Sends log records of one service with OTLP/JSON. */
export async function sendLogs(
  server: Server,
  token: string,
  serviceName: string,
  records: { body: string; at?: number; attributes?: Attributes }[],
): Promise<Json> {
  const logRecords = records.map(({ body, at = Date.now(), attributes = {} }) => ({
    timeUnixNano: nanos(at),
    severityText: 'INFO',
    body: { stringValue: body },
    attributes: toAttributes(attributes),
  }));
  const resource = { attributes: toAttributes({ 'service.name': serviceName }) };
  const body = { resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] };
  return accept(await postOtlp(server, token, 'logs', body));
}

/** Sends points of a gauge of one service with OTLP/JSON. */
export async function sendGauge(server: Server, token: string, serviceName: string, values: number[]): Promise<Json> {
  const dataPoints = values.map((asDouble, index) => ({ timeUnixNano: nanos(Date.now() + index), asDouble }));
  const resource = { attributes: toAttributes({ 'service.name': serviceName }) };
  const metrics = [{ name: 'queue.length', unit: '1', gauge: { dataPoints } }];
  const body = { resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }] };
  return accept(await postOtlp(server, token, 'metrics', body));
}
