import type { ApiResponse, Call, Json } from './client.ts';
import { acme } from './fleet.ts';

type Key = typeof acme.admin;

interface Options {
  key?: Key;
  signal?: AbortSignal;
  access?: 'read' | 'write';
}

/** The lines of a result by role. */
interface Lines {
  status: number;
  /** Without progress. */
  lines: Json[];
  rows: Json[];
  end: Json | undefined;
  exception: Json | undefined;
}

/** Runs statements by role on the services of a server. */
export function useStatements(server: { url: string; call(call: Call): Promise<ApiResponse> }) {
  function post(serviceId: string, body: object, { key = acme.admin, signal, access = 'read' }: Options = {}) {
    const authorization = `Basic ${Buffer.from(`${key.keyId}:${key.keySecret}`).toString('base64')}`;
    return fetch(`${server.url}/v1/organizations/${acme.id}/services/${serviceId}/sql/${access}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
  }

  return {
    post,
    async history(serviceId: string, key: Key): Promise<Json[]> {
      const path = `/v1/organizations/${acme.id}/services/${serviceId}/sql/history`;
      return (await server.call({ path, key })).json.result;
    },
    async run(serviceId: string, body: object | string, options: Options = {}): Promise<Lines> {
      const response = await post(serviceId, typeof body === 'string' ? { sql: body } : body, options);
      const text = await response.text();
      const lines: Json[] = text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
        .filter((line: Json) => line.progress === undefined);
      return {
        status: response.status,
        lines,
        rows: lines.flatMap(({ row }) => (row ? [row] : [])),
        end: lines.at(-1)?.end,
        exception: lines.at(-1)?.exception,
      };
    },
  };
}
