/** An operation of a JSON Patch (RFC 6902). */
interface Operation {
  op: 'test' | 'add' | 'replace';
  path: string;
  value: unknown;
}

type Path = readonly (string | number)[];
type Members = Record<string | number, unknown>;

/** Builds a patch of `object`, which stays as it is. */
export function createPatch(object: object) {
  const draft = structuredClone(object) as Members;
  const operations: Operation[] = [];

  return {
    operations,

    /** The patch fails if the member is no longer what was read. */
    test(...path: Path): void {
      operations.push({ op: 'test', path: formatPointer(path), value: findMember(object, path) });
    },

    /** Adds the objects on the way that are missing. Does nothing if the member has the value. */
    set(path: Path, value: unknown): void {
      let parent = draft;
      for (const [index, name] of path.entries()) {
        const rest = path.slice(index + 1);
        const isLast = rest.length === 0;
        const current = parent[name];
        if (isLast && current === value) return;
        if (isLast || typeof current !== 'object' || current === null) {
          const op = current === undefined ? 'add' : 'replace';
          const wrapped = rest.reduceRight<unknown>((inner, member) => ({ [member]: inner }), value);
          parent[name] = wrapped;
          operations.push({ op, path: formatPointer(path.slice(0, index + 1)), value: structuredClone(wrapped) });
          return;
        }
        parent = current as Members;
      }
    },
  };
}

export function findMember(object: unknown, path: Path): unknown {
  let value = object;
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Members)[name];
  }
  return value;
}

const formatPointer = (path: Path): string =>
  path.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
