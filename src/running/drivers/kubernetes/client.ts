import { stat } from 'node:fs/promises';
import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { createSecureContext } from 'node:tls';
import { AppError } from '../../../kernel/errors.ts';
import { readLimited } from '../../../kernel/read-limited.ts';
import { isTimeout, limitTime } from '../../../kernel/tasks/time-limit.ts';
import { SECOND_MS } from '../../../kernel/time/clock.ts';
import { isConflict, parseJsonObject, toApiError } from './api-errors.ts';
import { type ApiRequest, formatApiPath } from './api-request.ts';
import { type Connection, readKubeconfig, readServiceAccount, readToken } from './kubeconfig.ts';

interface Options {
  /** The path of a kubeconfig; without it, the account of the pod. */
  kubeconfig?: string | undefined;
  serviceAccountDirectory?: string | undefined;
}

interface Answer {
  status: number;
  body: string;
}

interface OpenConnection extends Connection {
  agent: HttpAgent | HttpsAgent;
  /** When the kubeconfig was last changed. */
  version: number;
}

const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';
const TIMEOUT_MS = 10 * SECOND_MS;
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
const MAX_SOCKETS = 8;

/**
 * The few calls of the Kubernetes API that the driver needs. The kubeconfig is read with the first call and again when
 * the file has changed, so a repaired file needs no restart.
 */
export function openKubernetesClient({ kubeconfig, serviceAccountDirectory = SERVICE_ACCOUNT_DIRECTORY }: Options) {
  let open: OpenConnection | undefined;

  async function connect(): Promise<OpenConnection> {
    const version = kubeconfig === undefined ? 0 : ((await stat(kubeconfig).catch(() => undefined))?.mtimeMs ?? -1);
    if (open?.version === version && version !== -1) return open;
    const connection =
      kubeconfig === undefined ? await readServiceAccount(serviceAccountDirectory) : await readKubeconfig(kubeconfig);
    const agentOptions = { keepAlive: true, maxSockets: MAX_SOCKETS };
    open?.agent.destroy();
    open = { ...connection, version, agent: createAgent(connection, agentOptions) };
    return open;
  }

  async function call(request: ApiRequest, signal: AbortSignal): Promise<Answer> {
    const connection = await connect();
    const token = await readToken(connection);
    const { patch } = request;
    const limited = limitTime(TIMEOUT_MS, signal);
    const body = patch && JSON.stringify(patch.body);
    const options: RequestOptions = {
      method: patch ? 'PATCH' : 'GET',
      agent: connection.agent,
      signal: limited,
      headers: {
        accept: 'application/json',
        'user-agent': 'Pilothouse',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(patch && { 'content-type': patch.contentType, 'content-length': Buffer.byteLength(body ?? '') }),
      },
    };
    try {
      return await exchange(toUrl(connection.server, request), options, body, limited);
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      throw new AppError('unavailable', formatFailure(connection.server, cause, signal), { cause });
    }
  }

  return {
    /** An object or, with the verb `list`, a list. Throws `not_found` if there is no such object or resource. */
    async read<T>(request: ApiRequest, signal: AbortSignal): Promise<T> {
      const { status, body } = await call(request, signal);
      if (status !== 200) throw toApiError(request, status, body);
      return parseObject<T>(body);
    },

    /** The changed object; undefined if it is no longer what the patch expects. */
    async patch<T>(request: ApiRequest, signal: AbortSignal): Promise<T | undefined> {
      const { status, body } = await call(request, signal);
      if (status === 200) return parseObject<T>(body);
      if (isConflict(status, parseJsonObject(body))) return undefined;
      throw toApiError(request, status, body);
    },

    close(): void {
      open?.agent.destroy();
      open = undefined;
    },
  };
}

function createAgent({ server, ca, cert, key, servername }: Connection, options: object): HttpAgent | HttpsAgent {
  if (server.protocol === 'http:') return new HttpAgent(options);
  try {
    const secureContext = createSecureContext({ ca, cert, key });
    return new HttpsAgent({ ...options, secureContext, ...(servername !== undefined && { servername }) });
  } catch (cause) {
    throw new AppError('unavailable', 'The kubeconfig cannot be used: a certificate or key is not valid', { cause });
  }
}

/** The URL of a server may have a path, such as that of a proxy of several clusters. */
const toUrl = (server: URL, request: ApiRequest): URL =>
  new URL(`${server.origin}${server.pathname.replace(/\/$/, '')}${formatApiPath(request)}`);

function exchange(url: URL, options: RequestOptions, body: string | undefined, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const startRequest = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = startRequest(url, options, (response) => {
      readLimited(response, { maxBytes: MAX_RESPONSE_BYTES, signal, sender: 'the Kubernetes API server' }).then(
        (content) => resolve({ status: response.statusCode ?? 0, body: content.toString('utf8') }),
        reject,
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

function parseObject<T>(body: string): T {
  const value = parseJsonObject(body);
  if (Object.keys(value).length > 0) return value as T;
  throw new AppError('unavailable', 'The Kubernetes API server sent a response that is not a JSON object');
}

function formatFailure(server: URL, error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'The call of the Kubernetes API server was canceled';
  const { code, message, errors } = error as NodeJS.ErrnoException & { errors?: readonly Error[] };
  if (isTimeout(error))
    return `The Kubernetes API server ${server.host} did not respond within ${TIMEOUT_MS / SECOND_MS} s`;
  const reason = code ?? (message || errors?.[0]?.message);
  return `The Kubernetes API server ${server.host} cannot be reached: ${reason}`;
}
