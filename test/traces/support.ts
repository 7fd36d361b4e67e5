import { expect } from 'vitest';
import type { ApiResponse, Call, Json } from '../support/client.ts';
import { send, type Target } from '../support/otlp-client.ts';
import { text } from '../support/otlp-requests.ts';

const KINDS = ['', 'internal', 'server', 'client', 'producer', 'consumer'];

/** A span of a test trace. Times are milliseconds after `atMs`. */
export interface TestSpan {
  id: string;
  parent?: string;
  service?: string;
  name?: string;
  kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  from: number;
  to: number;
  isError?: boolean;
  attributes?: Record<string, string>;
  more?: object;
}

/** 16 hex digits that start with the text of a short id. */
export const spanId = (id: string): string => Buffer.from(id).toString('hex').padEnd(16, '0').slice(0, 16);

const toNanos = (atMs: number, offsetMs: number): string =>
  String(BigInt(atMs) * 1_000_000n + BigInt(Math.round(offsetMs * 1e6)));

const toKeyValues = (attributes: Record<string, string>) =>
  Object.entries(attributes).map(([key, value]) => text(key, value));

const toResource = (service: string) => ({ attributes: [text('service.name', service)] });

function groupByService<T extends { service?: string }>(list: readonly T[]): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of list) {
    const service = item.service ?? 'web';
    groups.set(service, [...(groups.get(service) ?? []), item]);
  }
  return [...groups];
}

export async function sendSpans(
  target: Target,
  traceId: string,
  atMs: number,
  spans: readonly TestSpan[],
): Promise<void> {
  const resourceSpans = groupByService(spans).map(([service, own]) => ({
    resource: toResource(service),
    scopeSpans: [
      {
        scope: { name: 'test', version: '1' },
        spans: own.map((one) => ({
          traceId,
          spanId: spanId(one.id),
          ...(one.parent !== undefined && { parentSpanId: spanId(one.parent) }),
          name: one.name ?? one.id,
          kind: KINDS.indexOf(one.kind ?? 'internal'),
          startTimeUnixNano: toNanos(atMs, one.from),
          endTimeUnixNano: toNanos(atMs, one.to),
          attributes: toKeyValues(one.attributes ?? {}),
          status: { code: one.isError ? 2 : 0 },
          ...one.more,
        })),
      },
    ],
  }));
  const { status, json } = await send(target, 'traces', { resourceSpans });
  expect([status, json.partialSuccess?.errorMessage ?? ''], 'spans are accepted').toEqual([200, '']);
}

interface TestLog {
  at: number;
  body: string;
  span?: string;
  service?: string;
}

export async function sendLogs(target: Target, traceId: string, atMs: number, logs: readonly TestLog[]): Promise<void> {
  const resourceLogs = groupByService(logs).map(([service, own]) => ({
    resource: toResource(service),
    scopeLogs: [
      {
        logRecords: own.map(({ at, body, span }) => ({
          timeUnixNano: toNanos(atMs, at),
          severityText: 'INFO',
          body: { stringValue: body },
          traceId,
          ...(span !== undefined && { spanId: spanId(span) }),
        })),
      },
    ],
  }));
  const { status } = await send(target, 'logs', { resourceLogs });
  expect(status, 'logs are accepted').toBe(200);
}

let traces = 0;

/** A trace id that no other test of this file uses. */
export const newTraceId = (): string => (++traces).toString(16).padStart(32, 'abcdef01');

export const byName = (spans: Json[], name: string): Json => spans.find((one) => one.name === name);

export const post = (
  call: (request: Call) => Promise<ApiResponse>,
  token: string,
  path: string,
  body: object,
): Promise<ApiResponse> => call({ method: 'POST', path: `/api/v2/traces/${path}`, token, body });
