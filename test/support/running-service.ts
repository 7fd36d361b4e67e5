import { expect } from 'vitest';
import type { ApiResponse, Call, Json } from './client.ts';
import { acme } from './fleet.ts';
import { until } from './until.ts';

const SERVICES = `/v1/organizations/${acme.id}/services`;

interface Target {
  call(call: Call): Promise<ApiResponse>;
}

/** The calls that tests of services with a process make. */
export function useServices(server: Target) {
  const send = (method: string, path: string, body?: unknown) =>
    server.call({ method, path: `${SERVICES}${path}`, key: acme.admin, ...(body === undefined ? {} : { body }) });
  const read = async (id: string): Promise<Json> => (await send('GET', `/${id}`)).json.result;

  return {
    send,
    read,
    readIdle: async (id: string): Promise<Json> => (await send('GET', `/${id}/idle`)).json.result,

    untilState: (id: string, state: string): Promise<Json> =>
      until(
        () => read(id),
        (record) => record.status.state === state && record.status.inFlight === undefined,
        `the service does not become ${state}`,
      ),

    /** Creates an embedded service and waits until it runs. */
    async create(body: object = {}): Promise<RunningService> {
      const wanted = { name: 'real', provider: 'aws', region: 'eu-central-1', driver: 'embedded' };
      const { status, json } = await send('POST', '', { ...wanted, ...body });
      expect(status, JSON.stringify(json)).toBe(200);
      const { service, password } = json.result;
      const { endpoints } = await this.untilState(service.id, 'running');
      const url = `http://${endpoints[0].host}:${endpoints[0].port}`;
      return { id: service.id, url, password, query: (sql, options) => query(url, password, sql, options) };
    },

    command: (id: string, command: string) => send('PATCH', `/${id}/state`, { command }),

    async listActivities(id: string): Promise<Json[]> {
      const path = `/v1/organizations/${acme.id}/activities?resource_id=${id}`;
      return (await server.call({ path, key: acme.admin })).json.result;
    },
  };
}

interface QueryOptions {
  headers?: Record<string, string>;
  parameters?: string;
  signal?: AbortSignal;
}

interface RunningService {
  id: string;
  url: string;
  password: string;
  query(sql: string, options?: QueryOptions): Promise<Answer>;
}

interface Answer {
  status: number;
  text: string;
}

export async function query(url: string, password: string, sql: string, options: QueryOptions = {}): Promise<Answer> {
  const { headers = {}, parameters = '', signal } = options;
  const authorization = `Basic ${Buffer.from(`default:${password}`).toString('base64')}`;
  const response = await fetch(`${url}/${parameters}`, {
    method: 'POST',
    headers: { authorization, ...headers },
    body: sql,
    ...(signal && { signal }),
  });
  return { status: response.status, text: (await response.text()).trimEnd() };
}
