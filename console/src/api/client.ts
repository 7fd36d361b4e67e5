import { createUnreachableError, toApiError } from './errors.ts';
import { readJson } from './read-json.ts';
import type { OperationRequest, Send } from './send.ts';
import type { SessionStore } from './session.ts';

type SessionPart = Pick<SessionStore, 'csrf' | 'renew' | 'end' | 'requireFreshSignIn'>;

/** Sends the session cookie and its CSRF token. If another tab has replaced the token, it is fetched again, once. */
export function createSend(base: string, sessions: SessionPart): Send {
  return async <T>(method: string, path: string, request: OperationRequest): Promise<T> => {
    let response = await fetchOnce(base, method, path, request, sessions.csrf());
    if (response.status === 401 && (await sessions.renew())) {
      response = await fetchOnce(base, method, path, request, sessions.csrf());
    }
    if (response.status === 401) sessions.end();
    if (needsFreshSignIn(response)) sessions.requireFreshSignIn();
    const payload = isDownload(response) ? await response.blob() : await readJson(response);
    if (!response.ok) throw toApiError(response.status, payload, response.headers.get('x-request-id') ?? undefined);
    request.onResponse?.(response, payload);
    return (request.envelope ? (payload as Record<string, unknown>)[request.envelope] : payload) as T;
  };
}

/** The person signed in too long ago for this change. */
const needsFreshSignIn = ({ status, headers }: Response): boolean =>
  status === 403 && headers.get('www-authenticate')?.includes('insufficient_user_authentication') === true;

/** A download is returned as a blob. */
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
      (Array.isArray(value) ? value : [value]).flatMap((one) =>
        one === undefined || one === null ? [] : [[name, String(one)]],
      ),
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
