/** Options of any operation. */
export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** Called with a successful response and its parsed body, for example to read its ETag or the next cursor. */
  onResponse?: ((response: Response, payload: unknown) => void) | undefined;
}

export interface OperationRequest extends RequestOptions {
  /** The member of the response that holds the result; without it, the result is the whole response. */
  envelope?: 'result' | 'data';
  query?: Record<string, unknown>;
  headers?: Record<string, string | undefined>;
  body?: unknown;
}

export type Send = <T>(method: string, path: string, request: OperationRequest) => Promise<T>;
