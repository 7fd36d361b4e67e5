/** A set of services: those in `ids`, or all except those in `ids`. The latter includes services created later. */
export interface ServiceSet {
  readonly isComplement: boolean;
  readonly ids: ReadonlySet<string>;
}

const EMPTY_IDS: ReadonlySet<string> = new Set();
export const NO_SERVICES: ServiceSet = { isComplement: false, ids: EMPTY_IDS };
export const ALL_SERVICES: ServiceSet = { isComplement: true, ids: EMPTY_IDS };

export const isEmpty = ({ isComplement, ids }: ServiceSet): boolean => !isComplement && ids.size === 0;
export const isEverything = ({ isComplement, ids }: ServiceSet): boolean => isComplement && ids.size === 0;

export const contains = ({ isComplement, ids }: ServiceSet, id: string): boolean => ids.has(id) !== isComplement;

const complement = ({ isComplement, ids }: ServiceSet): ServiceSet => ({ isComplement: !isComplement, ids });

const filterIds = (ids: ReadonlySet<string>, set: ServiceSet): ReadonlySet<string> =>
  new Set([...ids].filter((id) => contains(set, id)));

function intersect(a: ServiceSet, b: ServiceSet): ServiceSet {
  if (!a.isComplement) return { isComplement: false, ids: filterIds(a.ids, b) };
  if (!b.isComplement) return { isComplement: false, ids: filterIds(b.ids, a) };
  return { isComplement: true, ids: new Set([...a.ids, ...b.ids]) };
}

export const unite = (a: ServiceSet, b: ServiceSet): ServiceSet => complement(intersect(complement(a), complement(b)));

export const subtract = (a: ServiceSet, b: ServiceSet): ServiceSet => intersect(a, complement(b));

export const isSubset = (a: ServiceSet, b: ServiceSet): boolean => isEmpty(subtract(a, b));
