import { memoized } from '../kernel/memo.ts';
import { ENCODINGS, type Encoding } from './etag.ts';

/** The encoding that the client likes best of ours; `identity` where it takes none of them. Few headers are in use, so the answers are kept. */
export const preferredEncoding = memoized((header): Encoding | 'identity' => {
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
