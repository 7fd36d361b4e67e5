import { MAX_URL_PARAMETERS } from '../../kernel/url-limits.ts';

/** The statement is only examined up to here: enough for its kind and for comparing it with a probe. */
export const MAX_STATEMENT_CHARACTERS = 4096;

export interface RequestUrl {
  path: string;
  /** Of the parameters `user` and `password`, which ClickHouse prefers to Basic authentication. */
  user: string | undefined;
  password: string | undefined;
  queryId: string | undefined;
  /** The beginning of the parameter `query`; undefined without one. */
  statement: string | undefined;
  /** The body is compressed in the format of the native protocol. */
  isDecompressed: boolean;
  /** The parameters that are forwarded, as they were sent: without `user`, `password` and those that the proxy does not support. */
  forwarded: string;
}

/**
 * Parses the URL of a request as ClickHouse does: names are compared without case, and of several parameters with the same
 * name the first counts. Each character is read a fixed number of times. Undefined if there are too many parameters.
 */
export function parseRequestUrl(text: string): RequestUrl | undefined {
  const mark = text.indexOf('?');
  const url: RequestUrl = {
    path: mark < 0 ? text : text.slice(0, mark),
    user: undefined,
    password: undefined,
    queryId: undefined,
    statement: undefined,
    isDecompressed: false,
    forwarded: '',
  };
  if (mark < 0) return url;
  // The rest of a longer list is not read.
  const parameters = text.slice(mark + 1).split('&', MAX_URL_PARAMETERS + 1);
  if (parameters.length > MAX_URL_PARAMETERS) return undefined;
  url.forwarded = parameters.filter((parameter) => parameter !== '' && !readParameter(url, parameter)).join('&');
  return url;
}

/** Returns whether the parameter must not be forwarded. */
function readParameter(url: RequestUrl, parameter: string): boolean {
  const equals = parameter.indexOf('=');
  const name = equals < 0 ? parameter : parameter.slice(0, equals);
  const value = equals < 0 ? '' : parameter.slice(equals + 1);
  switch (decodeName(name).toLowerCase()) {
    case 'user':
      url.user ??= decodeValue(value);
      return true;
    case 'password':
      url.password ??= decodeValue(value);
      return true;
    case 'query_id':
      url.queryId ??= decodeValue(value);
      return false;
    case 'query':
      url.statement ??= decodeStatement(value.slice(0, 3 * MAX_STATEMENT_CHARACTERS));
      return false;
    // Headers are sent to the client when they are complete, so it would not see progress in them; of a long query they
    // would exceed any limit.
    case 'send_progress_in_http_headers':
      return true;
    case 'decompress':
      url.isDecompressed ||= value !== '0';
      return false;
    default:
      return false;
  }
}

/** Byte by byte, so that no way of writing a name hides it from the proxy and not from ClickHouse. */
function decodeName(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

function decodeValue(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  const bytes = spaced.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

const decodeStatement = (text: string): string => decodeValue(text).slice(0, MAX_STATEMENT_CHARACTERS);
