import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { memoize } from './memo.ts';

export const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Parses an `Accept-Encoding` header into the weight of each of our encodings and of `identity`. */
const parseAcceptEncoding = memoize((header): Record<Encoding | 'identity', number> => {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().replaceAll(/\s/g, '').split(',')) {
    const [name = '', ...parameters] = part.split(';');
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight === undefined ? 1 : Number(weight) || 0);
  }
  const wildcard = weights.get('*') ?? 0;
  return {
    br: weights.get('br') ?? wildcard,
    gzip: weights.get('gzip') ?? wildcard,
    identity: weights.get('identity') ?? 0,
  };
});

/** The client's preferred encoding among those that are available; `identity` if it accepts none of them. */
export function preferredEncoding(header = '', available: readonly Encoding[] = ENCODINGS): Encoding | 'identity' {
  const weights = parseAcceptEncoding(header);
  return available.reduce<Encoding | 'identity'>((best, one) => {
    const isBetter = best === 'identity' ? weights[one] >= weights.identity : weights[one] > weights[best];
    return weights[one] > 0 && isBetter ? one : best;
  }, 'identity');
}

/** Below this size, compression saves less than it costs. */
export const MIN_COMPRESSED_BYTES = 1024;

/** `cached`: compressed once and sent many times. `once`: a client is waiting, and the result is not reused. */
type Use = 'cached' | 'once';

const QUALITY: Record<Encoding, Record<Use, number>> = { br: { cached: 5, once: 1 }, gzip: { cached: 6, once: 1 } };

const compressGzip = promisify<Buffer, { level: number }, Buffer>(gzip);
const compressBrotli = promisify(brotliCompress);

export function compress(bytes: Buffer, encoding: Encoding, use: Use): Promise<Buffer> {
  const quality = QUALITY[encoding][use];
  return encoding === 'gzip'
    ? compressGzip(bytes, { level: quality })
    : compressBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
}
