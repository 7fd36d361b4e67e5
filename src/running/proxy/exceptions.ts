/** The names and codes of ClickHouse errors that the proxy answers with, and their HTTP status. */
const EXCEPTIONS = {
  BAD_ARGUMENTS: { code: 36, status: 400 },
  TOO_LARGE_STRING_SIZE: { code: 131, status: 414 },
  REQUIRED_PASSWORD: { code: 194, status: 401 },
  IP_ADDRESS_NOT_ALLOWED: { code: 195, status: 403 },
  TOO_MANY_SIMULTANEOUS_QUERIES: { code: 202, status: 503 },
  SOCKET_TIMEOUT: { code: 209, status: 408 },
  NETWORK_ERROR: { code: 210, status: 502 },
  ALL_CONNECTION_TRIES_FAILED: { code: 279, status: 503 },
  RECEIVED_ERROR_TOO_MANY_REQUESTS: { code: 364, status: 429 },
  ACCESS_DENIED: { code: 497, status: 403 },
  UNEXPECTED_PACKET_FROM_CLIENT: { code: 101, status: 400 },
  AUTHENTICATION_FAILED: { code: 516, status: 403 },
} as const;

type ExceptionName = keyof typeof EXCEPTIONS;

/** An error in the format of ClickHouse, whose clients read the code from a header and the text. */
export interface Exception {
  name: ExceptionName;
  /** A sentence without its period. */
  text: string;
  /** Whole seconds. */
  retryAfterSeconds?: number | undefined;
}

export const getExceptionCode = (name: ExceptionName): number => EXCEPTIONS[name].code;

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const TEXT = 'text/plain; charset=UTF-8';

export const toTextAnswer = (status: number, body: string): Answer => ({
  status,
  headers: { 'Content-Type': TEXT },
  body,
});

export function toAnswer({ name, text, retryAfterSeconds }: Exception): Answer {
  const { code, status } = EXCEPTIONS[name];
  const headers: Record<string, string> = { 'Content-Type': TEXT, 'X-ClickHouse-Exception-Code': String(code) };
  if (name === 'REQUIRED_PASSWORD') headers['WWW-Authenticate'] = 'Basic realm="ClickHouse server HTTP API"';
  if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(retryAfterSeconds);
  return { status, headers, body: `Code: ${code}. DB::Exception: ${text}. (${name})\n` };
}

/** What ClickHouse answers to paths that it does not know, without the lines about its command-line client. */
export const toNotFoundAnswer = (path: string): Answer =>
  toTextAnswer(
    404,
    `There is no handle ${toPrintable(path)}\n\nUse / or /ping for health checks.\nSend queries from your program with POST method or GET /?query=...\n`,
  );

const MAX_PRINTED_CHARACTERS = 64;

/** Text of a client on one line of an answer. */
export const toPrintable = (text: string): string =>
  text.slice(0, MAX_PRINTED_CHARACTERS).replace(/[^\x20-\x7e\u00a0-\ud7ff\ue000-\ufffd]/g, '?');

/** On every response of an endpoint: a browser must not run it, even if a query calls it HTML. */
export const ENDPOINT_SECURITY_HEADERS = {
  'Content-Security-Policy': "sandbox; default-src 'none'",
  'X-Content-Type-Options': 'nosniff',
};
