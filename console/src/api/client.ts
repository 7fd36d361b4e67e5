import { createUnreachableError, toApiError } from './errors.ts';
import type { SessionStore } from './session.ts';

/** What a caller may add to any operation. */
export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** Sees the answer's headers, for example the etag; called only when the answer is a success. */
  onResponse?: ((response: Response) => void) | undefined;
}

interface OperationRequest extends RequestOptions {
  /** The member of the answer that holds what was asked for; the whole answer when left out. */
  envelope?: 'result' | 'data';
  query?: Record<string, unknown>;
  headers?: Record<string, string | undefined>;
  body?: unknown;
}

export type Send = <T>(method: string, path: string, request: OperationRequest) => Promise<T>;

/** Requests with the session's cookie and its token. A token that another tab has replaced is fetched again, once. */
export function createSend(base: string, sessions: SessionStore): Send {
  return async <T>(method: string, path: string, request: OperationRequest): Promise<T> => {
    let response = await fetchOnce(base, method, path, request, sessions.csrf());
    if (response.status === 401 && (await sessions.renew())) {
      response = await fetchOnce(base, method, path, request, sessions.csrf());
    }
    if (response.status === 401) sessions.end();
    const payload = isDownload(response) ? await response.blob() : await readJson(response);
    if (!response.ok) throw toApiError(response.status, payload, response.headers.get('x-request-id') ?? undefined);
    request.onResponse?.(response);
    return (request.envelope ? (payload as Record<string, unknown>)[request.envelope] : payload) as T;
  };
}

/** Handed out as it came. */
const isDownload = ({ ok, headers }: Response): boolean =>
  ok && headers.get('content-disposition')?.startsWith('attachment') === true;

async function fetchOnce(
  base: string,
  method: string,
  path: string,
  { query = {}, headers = {}, body, signal }: OperationRequest,
  csrf: string | undefined,
): Promise<Response> {
  const parameters = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[name, String(value)]],
    ),
  ).toString();
  const requestHeaders: Record<string, string> = { accept: 'application/json' };
  if (csrf !== undefined) requestHeaders['x-pilothouse-csrf'] = csrf;
  if (body !== undefined) requestHeaders['content-type'] = 'application/json';
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) requestHeaders[name] = value;
  try {
    return await fetch(`${base}${path}${parameters === '' ? '' : `?${parameters}`}`, {
      method,
      headers: requestHeaders,
      credentials: 'same-origin',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw createUnreachableError();
  }
}

export async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}
