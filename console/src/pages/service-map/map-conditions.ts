import { addCondition, both, type Dialect, either } from '../traces/conditions.ts';
import type { ServiceMap } from '../traces/queries.ts';
import type { TracesSearch } from '../traces/search.ts';
import type { SpanColumns } from '../traces/use-columns.ts';

export type MapNode = ServiceMap['nodes'][number];
export type MapEdge = ServiceMap['edges'][number];

/** The spans of a service, or the client spans that name a database, queue or address. */
function describe(
  { kind, name, system = '' }: MapNode,
  { service, attributes }: SpanColumns,
  dialect: Dialect,
): string {
  const has = (value: string, ...keys: string[]) =>
    either(...keys.map((key) => dialect.hasEntry(attributes, key, value)));
  const isNamed = name !== system;
  switch (kind) {
    case 'service':
      return dialect.equals(service, name);
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

/** The page with the node in addition to its condition. */
export function toNodeSearch(page: TracesSearch, node: MapNode, columns: SpanColumns): TracesSearch {
  const { where: _where, lang: _lang, ...rest } = page;
  return { ...rest, ...addCondition(page, (dialect) => describe(node, columns, dialect)) };
}

/** A condition is about one span, so the caller of a service is a second condition on the traces. */
export function toEdgeSearch(page: TracesSearch, from: MapNode, to: MapNode, columns: SpanColumns): TracesSearch {
  if (from.kind === 'service' && to.kind === 'service')
    return { ...toNodeSearch(page, to, columns), ...(from.name === to.name ? {} : { with: from.name }) };
  const { where: _where, lang: _lang, ...rest } = page;
  const build = (dialect: Dialect) => both(describe(from, columns, dialect), describe(to, columns, dialect));
  return { ...rest, ...addCondition(page, build) };
}
