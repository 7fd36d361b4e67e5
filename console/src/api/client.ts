import { apiErrorOf, unreachable } from './errors.ts';
import type { SessionStore } from './session.ts';

/** What a caller may add to any operation. */
export interface Options {
  signal?: AbortSignal | undefined;
  /** Sees the answer's headers, for example the etag; called only when the answer is a success. */
  onResponse?: ((response: Response) => void) | undefined;
}

interface Request extends Options {
  /** The member of the answer that holds what was asked for; the whole answer when left out. */
  envelope?: 'result' | 'data';
  query?: Record<string, unknown>;
  headers?: Record<string, string | undefined>;
  body?: unknown;
}

export type Send = <T>(method: string, path: string, request: Request) => Promise<T>;

/** Requests with the session's cookie and its token. A token that another tab has replaced is fetched again, once. */
export function createSend(base: string, sessions: SessionStore): Send {
  return async <T>(method: string, path: string, request: Request): Promise<T> => {
    let response = await attempt(base, method, path, request, sessions.csrf());
    if (response.status === 401 && (await sessions.renew())) {
      response = await attempt(base, method, path, request, sessions.csrf());
    }
    if (response.status === 401) sessions.end();
    const answer = isFile(response) ? await response.blob() : await jsonOf(response);
    if (!response.ok) throw apiErrorOf(response.status, answer, response.headers.get('x-request-id') ?? undefined);
    request.onResponse?.(response);
    return (request.envelope ? (answer as Record<string, unknown>)[request.envelope] : answer) as T;
  };
}

/** Handed out as it came. */
const isFile = ({ ok, headers }: Response): boolean =>
  ok && headers.get('content-disposition')?.startsWith('attachment') === true;

async function attempt(
  base: string,
  method: string,
  path: string,
  { query = {}, headers = {}, body, signal }: Request,
  csrf: string | undefined,
): Promise<Response> {
  const parameters = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[name, String(value)]],
    ),
  ).toString();
  const sent: Record<string, string> = { accept: 'application/json' };
  if (csrf !== undefined) sent['x-pilothouse-csrf'] = csrf;
  if (body !== undefined) sent['content-type'] = 'application/json';
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) sent[name] = value;
  try {
    return await fetch(`${base}${path}${parameters === '' ? '' : `?${parameters}`}`, {
      method,
      headers: sent,
      credentials: 'same-origin',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable();
  }
}

export async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}
