export interface ActivitySearch {
  /** YYYY-MM-DD, both included. */
  from?: string;
  to?: string;
  /** services, keys, dashboards … */
  kind?: string;
  actor?: string;
  text?: string;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

export function activitySearch(search: Record<string, unknown>): ActivitySearch {
  const text = (name: string) => (typeof search[name] === 'string' && search[name] !== '' ? search[name] : undefined);
  const day = (name: string) => (DAY.test(text(name) ?? '') ? text(name) : undefined);
  const found = { from: day('from'), to: day('to'), kind: text('kind'), actor: text('actor'), text: text('text') };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}
