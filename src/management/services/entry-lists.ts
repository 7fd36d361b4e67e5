import type { Violation } from '../../kernel/errors.ts';
import type { IpAccess, ServiceDetails, Tag } from './service.ts';

/** The lists of a service are changed by entries, so that two clients do not overwrite each other. */
export interface ListPatch<T> {
  add?: readonly T[] | undefined;
  remove?: readonly T[] | undefined;
}

export const MAX_ADDRESSES = 1000;
export const MAX_TAGS = 50;

/** Unknown members of an entry are ignored: they are neither stored nor audited. */
export const toIpAccess = ({ source, description }: IpAccess): IpAccess =>
  description ? { source, description } : { source };
export const toTag = ({ key, value }: Tag): Tag => (value ? { key, value } : { key });

/** Removes first, then adds; an added entry replaces the one with the same key. */
export function patchList<T>(
  list: readonly T[],
  { add = [], remove = [] }: ListPatch<T>,
  toEntry: (entry: T) => T,
  toKey: (entry: T) => string,
): T[] {
  const entries = new Map(list.map((entry) => [toKey(entry), entry]));
  for (const entry of remove) entries.delete(toKey(entry));
  for (const entry of add) entries.set(toKey(entry), toEntry(entry));
  return [...entries.values()];
}

/** The schema limits one request; the lists grow over several. */
export function limitViolations({ ipAccessList = [], tags = [] }: ServiceDetails): Violation[] {
  const violations: Violation[] = [];
  if (ipAccessList.length > MAX_ADDRESSES)
    violations.push({ path: 'ipAccessList.add', rule: `A service has at most ${MAX_ADDRESSES} entries`, value: [] });
  if (tags.length > MAX_TAGS)
    violations.push({ path: 'tags.add', rule: `A service has at most ${MAX_TAGS} tags`, value: [] });
  return violations;
}
