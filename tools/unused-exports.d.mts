export interface Export {
  path: string;
  /** `*` for a module that nothing imports. */
  name: string;
}

export function findUnusedExports(sources: Map<string, string>): { unused: Export[]; testOnly: Export[] };
