import type { Static } from 'typebox';
import { AppError } from '../../kernel/errors.ts';
import type { OrganizationRecord } from '../../management/organizations/schema.ts';
import { findErrorCode } from '../../platform/http/interfaces.ts';
import { renderAuthorityAdvice } from '../../platform/tls/unknown-authority.ts';
import type { SendRequest } from '../../server/local-api.ts';
import { type Api, type ApiRequest, type ServerAddress, UsageError } from '../command.ts';
import { formatFlag } from '../parameters.ts';

interface Envelope {
  result: unknown;
  nextCursor?: string | null;
}

export function createApi(send: SendRequest, organization: Api['organization']): Api {
  const base = `/v1/organizations/${organization.id}`;

  async function request(path: string, { method = 'GET', body, query = {}, options }: ApiRequest): Promise<Response> {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
    const search = parameters.size > 0 ? `?${parameters}` : '';
    const response = await send(base + path + search, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    if (!response.ok) throw await readError(response, options);
    return response;
  }

  const read = async (path: string, given: ApiRequest): Promise<Envelope> => readJson(await request(path, given));

  return {
    organization,
    call: async <T>(path: string, given: ApiRequest = {}) => (await read(path, given)).result as T,
    async list<T>(
      path: string,
      { maxRecords = Number.POSITIVE_INFINITY, ...given }: ApiRequest & { maxRecords?: number } = {},
    ) {
      const records: T[] = [];
      let cursor: string | null | undefined;
      do {
        const page = await read(path, { ...given, query: { ...given.query, ...(cursor && { cursor }) } });
        records.push(...(page.result as T[]));
        cursor = page.nextCursor;
      } while (cursor && records.length < maxRecords);
      return records.slice(0, maxRecords);
    },
    async *download(path, given = {}) {
      yield* ((await request(path, given)).body ?? []) as AsyncIterable<Uint8Array>;
    },
    async upload<T>(path: string, headers: Record<string, string>, body: Buffer) {
      const response = await send(base + path, { method: 'POST', headers, body: new Uint8Array(body) });
      if (!response.ok) throw await readError(response);
      return (await readJson(response)).result as T;
    },
  };
}

type RemoteOrganization = Static<typeof OrganizationRecord>;

/** A key belongs to one organization. */
export async function connectToServer({ url, key }: ServerAddress) {
  const base = url.replace(/\/+$/, '');
  const authorization = `Basic ${Buffer.from(key).toString('base64')}`;
  const send: SendRequest = async (path, init) => {
    const headers = { ...Object.fromEntries(new Headers(init.headers)), authorization };
    const response = await fetch(base + path, { ...init, headers, redirect: 'manual' }).catch((cause: Error) => {
      throw new AppError('unavailable', `${base} cannot be reached: ${describeFailure(cause)}`, { cause });
    });
    if (response.status >= 300 && response.status < 400)
      throw new AppError('unavailable', `${base} redirects to ${response.headers.get('location')}; use that address`);
    return response;
  };
  const response = await send('/v1/organizations', {});
  if (!response.ok) {
    const { message } = await readError(response);
    throw new AppError(findErrorCode(response.status), `${base} rejects the key: ${message}`);
  }
  const [organization] = (await readJson(response)).result as RemoteOrganization[];
  if (!organization) throw new AppError('unavailable', `${base} is not a Pilothouse server`);
  return { organization, api: createApi(send, organization) };
}

/** Why `fetch` failed. The error of several attempts, one per address of a host, has a code only. */
export function describeFailure({ message, cause }: Error): string {
  const { code = '' } = (cause ?? {}) as NodeJS.ErrnoException;
  const reason = (cause instanceof Error && (cause.message || code)) || message;
  return reason + renderAuthorityAdvice(code);
}

async function readJson(response: Response): Promise<Envelope> {
  try {
    return (await response.json()) as Envelope;
  } catch (cause) {
    throw new AppError('unavailable', `The response has the status ${response.status} and is not JSON`, { cause });
  }
}

/** The message of the API without its code. A broken rule is a usage error that names the option of the command. */
async function readError(response: Response, options: Record<string, string> = {}): Promise<Error> {
  const { error = '' } = (await readJson(response)) as { error?: string };
  const text = error.replace(/^[A-Z_]+: /, '');
  const code = findErrorCode(response.status);
  if (code !== 'bad_request') return new AppError(code, text || `The server responded with status ${response.status}`);
  const problems = text.split(/; (?=(?:request body|query|path)\.)/);
  return new UsageError(problems.map((problem) => nameOption(problem, options)));
}

/** `request body.minReplicaMemoryGb: …` → `--min-memory: …`. */
const nameOption = (problem: string, options: Record<string, string>): string =>
  problem.replace(/^(?:request body|query|path)\.(\w+)[^:\s]*/, (place, name: string) => {
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined) return place;
    return option.startsWith('<') ? option : formatFlag(option);
  });
