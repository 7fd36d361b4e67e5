/** The names of a list that is written as text. */
export const readNames = (text: string): readonly string[] => text.trim().split(/\s+/);

/** How names are looked up: ClickHouse takes some functions and all keywords in any case. */
export const toLookup = (names: readonly string[]): ReadonlySet<string> =>
  new Set(names.map((name) => name.toLowerCase()));
