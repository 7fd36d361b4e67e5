import { type Network, parseNetwork } from '../../kernel/access/addresses.ts';
import type { RateLimit } from '../../platform/http/limits/rate-window.ts';

/** Returned by a parser for text that violates the rule; `undefined` is a valid value. */
export const INVALID = Symbol('invalid');

export function nonEmpty(text: string): string | typeof INVALID {
  return text === '' ? INVALID : text;
}

export function wholeNumber(min: number, max: number) {
  return (text: string): number | typeof INVALID => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : INVALID;
  };
}

export function urlWithScheme(scheme: RegExp) {
  return (text: string): string | typeof INVALID => (scheme.test(text) && URL.canParse(text) ? text : INVALID);
}

/** An address of the server without a slash at its end. */
export function parsePublicUrl(text: string): string | typeof INVALID {
  const url = /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  const extras = url && url.search + url.hash + url.username + url.password;
  return url === undefined || extras !== '' ? INVALID : url.href.replace(/\/+$/, '');
}

export function oneOf<const T extends string>(...values: T[]) {
  return (text: string): T | typeof INVALID => values.find((value) => value === text) ?? INVALID;
}

export function oneOfTwo(yes: string, no: string) {
  return (text: string): boolean | typeof INVALID => (text === yes ? true : text === no ? false : INVALID);
}

const BYTES = { MiB: 2 ** 20, GiB: 2 ** 30 };
const MIN_ENGINE_MIB = 768;

/** `1GiB`, `1536MiB`, in bytes. */
export function parseSize(text: string): number | typeof INVALID {
  const [, number, unit] = /^([1-9]\d{0,6})(MiB|GiB)$/.exec(text) ?? [];
  return number === undefined ? INVALID : Number(number) * BYTES[unit as keyof typeof BYTES];
}

/** The memory of the engine. */
export function parseBytes(text: string): number | typeof INVALID {
  const bytes = parseSize(text);
  return bytes !== INVALID && bytes >= MIN_ENGINE_MIB * BYTES.MiB ? bytes : INVALID;
}

/** The name is a part of statements. ClickHouse's own macros, such as `{cluster}`, are not names. */
export const parseClusterName = (text: string): string | typeof INVALID =>
  /^[A-Za-z_][\w.-]{0,63}$/.test(text) ? text : INVALID;

const MAX_DURATION_MS = 60 * 60 * 1000;

/** `500ms`, `10s`, in milliseconds. */
export function parseDurationMs(text: string): number | typeof INVALID {
  const [, number, unit] = /^(0|[1-9]\d{0,6})(ms|s)$/.exec(text) ?? [];
  const ms = Number(number) * (unit === 's' ? 1000 : 1);
  return ms <= MAX_DURATION_MS ? ms : INVALID;
}

const MAX_DAYS = 36_500;

/** `90`; `forever` is undefined. */
export const parseDays = (text: string): number | undefined | typeof INVALID =>
  text === 'forever' ? undefined : wholeNumber(1, MAX_DAYS)(text);

/** `1000/10s`; `off` is undefined. */
export function parseRate(text: string): RateLimit | undefined | typeof INVALID {
  if (text === 'off') return undefined;
  const [, requests, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,5})s$/.exec(text) ?? [];
  return requests && seconds ? { requests: Number(requests), windowSeconds: Number(seconds) } : INVALID;
}

/** `18123-19122`, inclusive; `0` is any free port. */
export function parsePortRange(text: string): { first: number; last: number } | typeof INVALID {
  if (text === '0') return { first: 0, last: 0 };
  const [, first, last] = /^([1-9]\d{0,4})-([1-9]\d{0,4})$/.exec(text) ?? [];
  const range = { first: Number(first), last: Number(last) };
  return range.first <= range.last && range.last <= MAX_PORT ? range : INVALID;
}

export const parseOptionalPortRange = (text: string) => (text === 'off' ? text : parsePortRange(text));

const MAX_PORT = 65_535;

export const parseList =
  (separator: string) =>
  (text: string): string[] =>
    splitList(text, separator);

function splitList(text: string, separator = ','): string[] {
  return text
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

export function parseNetworks(text: string): Network[] | typeof INVALID {
  const networks = splitList(text).map(parseNetwork);
  return networks.every((network) => network !== undefined) ? networks : INVALID;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const HEADER_VALUE = /^[!-~]([ -~]{0,4094}[!-~])?$/;

/** `name=value,name=value`, as OpenTelemetry defines it: values may be percent-encoded. */
export function parseHeaders(text: string): Record<string, string> | typeof INVALID {
  const headers: Record<string, string> = {};
  for (const item of splitList(text)) {
    const at = item.indexOf('=');
    const name = item.slice(0, Math.max(0, at)).trim().toLowerCase();
    const value = decodePercent(item.slice(at + 1).trim());
    if (!HEADER_NAME.test(name) || value === undefined || !HEADER_VALUE.test(value)) return INVALID;
    headers[name] = value;
  }
  return Object.keys(headers).length > 0 ? headers : INVALID;
}

function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** ClickHouse's system tables are rejected: they contain data of every organization. */
export function parseTables(text: string): string[] | typeof INVALID {
  const tables = splitList(text);
  const isTable = (name: string) =>
    /^[A-Za-z_]\w{0,63}\.[A-Za-z_]\w{0,127}$/.test(name) && !/^(system|information_schema)\./i.test(name);
  return tables.every(isTable) ? tables : INVALID;
}
