export interface ActivitySearch {
  /** YYYY-MM-DD, both included. */
  from?: string | undefined;
  to?: string | undefined;
  /** services, keys, dashboards … */
  kind?: string | undefined;
  actor?: string | undefined;
  text?: string | undefined;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** What is not good is said to be undefined: the router would let a member that is merely left out through. */
export function parseActivitySearch(search: Record<string, unknown>): ActivitySearch {
  const text = (name: string) => (typeof search[name] === 'string' && search[name] !== '' ? search[name] : undefined);
  const day = (name: string) => (DAY.test(text(name) ?? '') ? text(name) : undefined);
  return { from: day('from'), to: day('to'), kind: text('kind'), actor: text('actor'), text: text('text') };
}
