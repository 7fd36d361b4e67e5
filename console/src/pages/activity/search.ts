export interface ActivitySearch {
  /** YYYY-MM-DD, both inclusive. */
  from?: string | undefined;
  to?: string | undefined;
  /** A resource type. */
  kind?: string | undefined;
  actor?: string | undefined;
  /** The id of a resource: its changes only. */
  resource?: string | undefined;
  text?: string | undefined;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Invalid values are set to undefined explicitly: the router keeps the original value of members that are omitted. */
export function parseActivitySearch(search: Record<string, unknown>): ActivitySearch {
  const text = (name: string) => (typeof search[name] === 'string' && search[name] !== '' ? search[name] : undefined);
  const day = (name: string) => (DAY.test(text(name) ?? '') ? text(name) : undefined);
  return {
    from: day('from'),
    to: day('to'),
    kind: text('kind'),
    actor: text('actor'),
    resource: text('resource'),
    text: text('text'),
  };
}
