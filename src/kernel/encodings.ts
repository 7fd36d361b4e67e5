import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { memoize } from './memo.ts';

export const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The encoding that the client likes best of ours; `identity` where it takes none of them. Few headers are in use, so the answers are kept. */
export const preferredEncoding = memoize((header): Encoding | 'identity' => {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(name, weight === undefined ? 1 : Number(weight) || 0);
  }
  const weightOf = (encoding: string) => weights.get(encoding) ?? weights.get('*') ?? 0;
  const [best] = [...ENCODINGS].sort((a, b) => weightOf(b) - weightOf(a));
  return best !== undefined && weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0)
    ? best
    : 'identity';
});

/** Below this, compressing saves less than it costs. */
export const MIN_COMPRESSED_BYTES = 1024;

/** `kept`: made once and sent often. `fresh`: somebody waits for it, and nobody will ask for it again. */
type Use = 'kept' | 'fresh';

const QUALITY: Record<Encoding, Record<Use, number>> = { br: { kept: 5, fresh: 1 }, gzip: { kept: 6, fresh: 1 } };

const gzipped = promisify<Buffer, { level: number }, Buffer>(gzip);
const brotli = promisify(brotliCompress);

export function compress(bytes: Buffer, encoding: Encoding, use: Use): Promise<Buffer> {
  const quality = QUALITY[encoding][use];
  return encoding === 'gzip'
    ? gzipped(bytes, { level: quality })
    : brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
}
