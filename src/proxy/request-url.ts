/** The statement is only looked at up to here: enough for its kind and for comparing it with a probe. */
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

/** Parses the URL of a request as ClickHouse does: of several parameters with the same name, the first counts. */
export function parseRequestUrl(text: string): RequestUrl {
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
  for (let start = mark + 1; start <= text.length; ) {
    const next = text.indexOf('&', start);
    const end = next < 0 ? text.length : next;
    if (end > start && !readParameter(url, text, start, end))
      url.forwarded += `${url.forwarded === '' ? '' : '&'}${text.slice(start, end)}`;
    start = end + 1;
  }
  return url;
}

/** Returns whether the parameter must not be forwarded. */
function readParameter(url: RequestUrl, text: string, start: number, end: number): boolean {
  const equals = text.indexOf('=', start);
  const nameEnd = equals < 0 || equals > end ? end : equals;
  const value = Math.min(nameEnd + 1, end);
  switch (decodeName(text.slice(start, nameEnd))) {
    case 'user':
      url.user ??= decodeValue(text.slice(value, end));
      return true;
    case 'password':
      url.password ??= decodeValue(text.slice(value, end));
      return true;
    case 'query_id':
      url.queryId ??= decodeValue(text.slice(value, end));
      return false;
    case 'query':
      url.statement ??= decodeStatement(text.slice(value, Math.min(end, value + 3 * MAX_STATEMENT_CHARACTERS)));
      return false;
    // Headers are sent to the client when they are complete, so it would not see progress in them; of a long query they
    // would exceed any limit.
    case 'send_progress_in_http_headers':
      return true;
    case 'decompress':
      url.isDecompressed ||= text.slice(value, end) !== '0';
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
