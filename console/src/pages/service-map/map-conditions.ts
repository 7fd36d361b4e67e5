import { both, either, equals, hasEntry } from '../traces/conditions.ts';
import type { ServiceMap } from '../traces/queries.ts';
import type { TracesSearch } from '../traces/search.ts';
import type { SpanColumns } from '../traces/use-columns.ts';

export type MapNode = ServiceMap['nodes'][number];
export type MapEdge = ServiceMap['edges'][number];

/** The spans of a service, or the client spans that name a database, queue or address. */
function describe({ kind, name, system = '' }: MapNode, { service, attributes }: SpanColumns): string {
  const has = (value: string, ...keys: string[]) => either(...keys.map((key) => hasEntry(attributes, key, value)));
  const isNamed = name !== system;
  switch (kind) {
    case 'service':
      return equals(service, name);
    case 'database':
      return both(
        has(system, 'db.system.name', 'db.system'),
        ...(isNamed ? [has(name, 'db.namespace', 'db.name', 'server.address', 'net.peer.name')] : []),
      );
    case 'queue':
      return both(
        has(system, 'messaging.system'),
        ...(isNamed ? [has(name, 'messaging.destination.name', 'messaging.destination')] : []),
      );
    case 'external':
      return has(name, 'peer.service', 'server.address', 'net.peer.name');
  }
}

type Conditions = Pick<TracesSearch, 'where' | 'lang' | 'with'>;

export const toNodeSearch = (node: MapNode, columns: SpanColumns): Conditions => ({
  where: describe(node, columns),
  lang: 'sql',
});

/** A condition is about one span, so the caller of a service is a second condition on the traces. */
export function toEdgeSearch(from: MapNode, to: MapNode, columns: SpanColumns): Conditions {
  if (from.kind === 'service' && to.kind === 'service')
    return { ...toNodeSearch(to, columns), ...(from.name === to.name ? {} : { with: from.name }) };
  return { where: both(describe(from, columns), describe(to, columns)), lang: 'sql' };
}
