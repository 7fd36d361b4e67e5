import { expect } from 'vitest';
import type { TestServer } from './server.ts';

/** One operation of the server's OpenAPI document. */
export interface Operation {
  id: string;
  method: string;
  /** `/v1/organizations/{organizationId}` */
  path: string;
  /** From its description: the roles of keys, or the access of dashboard tokens. */
  roles: string[];
  /** The names of its path parameters, in order. */
  parameters: string[];
}

interface Document {
  paths: Record<string, Record<string, { operationId: string; description?: string }>>;
}

export async function listOperations(server: TestServer, prefix: '/v1' | '/api/v2'): Promise<Operation[]> {
  const { json } = await server.call({ path: '/openapi.json' });
  const operations = Object.entries((json as Document).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, description = '' }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path,
      roles: /(?:Roles|Token access): (.*)\.$/.exec(description)?.[1]?.split(', ') ?? [],
      parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''),
    })),
  );
  const found = operations.filter(({ path }) => path.startsWith(`${prefix}/`));
  expect(found.length).toBeGreaterThan(0);
  return found;
}

/** Fills in the path parameters, and adds a query if the operation requires one. */
export function formatPath({ path }: Operation, values: Record<string, string>): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? `no value for ${name}`);
  return /\/usageCost(\/summary|\/export)?$/.test(path) ? `${filled}?from_date=2026-10-01&to_date=2026-10-31` : filled;
}
