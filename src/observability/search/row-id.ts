import { rejectViolations } from '../../kernel/errors.ts';
import { MAX_TIME_MS } from '../charts/limits.ts';
import { ROW_HASH } from './cursor.ts';
import { toNanos } from './nanos.ts';

/** Identifies a row, or several that are equal: its time and a hash of its columns. */
export interface RowId {
  nanos: bigint;
  hash: string;
}

export const toRowId = ({ nanos, hash }: RowId): string => `${nanos}-${hash}`;

export function parseRowId(path: string, id: string): RowId {
  const [, nanos = '', hash = ''] = /^(\d{1,19})-(\w+)$/.exec(id) ?? [];
  const isValid = nanos !== '' && ROW_HASH.test(hash) && BigInt(nanos) < toNanos(MAX_TIME_MS);
  if (!isValid) rejectViolations([{ path, rule: 'The value must be an id that a search returned', value: id }]);
  return { nanos: BigInt(nanos || 0), hash };
}
