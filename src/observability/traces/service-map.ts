import type { Statement } from '../../platform/engine/engine.ts';
import type { QueryClient } from '../charts/shared-queries.ts';
import type { ResolvedSource } from '../charts/source-resolver.ts';
import { MAX_EDGES, MAX_NODES } from './limits.ts';
import type { Sampling, ServiceMapRecord } from './schema.ts';
import { createSampledSpans, type SampledSpans, type SpanQuery } from './span-query.ts';

type Node = ServiceMapRecord['nodes'][number];
type Edge = ServiceMapRecord['edges'][number];
type Load = Pick<Edge, 'requests' | 'errors' | 'p50Ns' | 'p95Ns'>;
type NodeName = Pick<Node, 'kind' | 'name' | 'system'>;

interface NamedEdge extends Load {
  from: NodeName;
  to: NodeName;
}

interface Plan<T> {
  statement: Statement;
  collect(rows: unknown[][]): T;
}

/** A span arrives from outside of its service: it has no parent, or one of another service, or is a request to itself. */
const IS_ENTRY = '(NOT p.__known OR p.__service != s.__service OR (p.__is_exit AND s.__is_entry))';

/** The services of the matching spans, with the spans that enter them. */
export function planServices(
  client: QueryClient,
  resolved: ResolvedSource,
  query: SpanQuery,
  sampling: Sampling,
): Plan<NamedLoad[]> {
  const spans = createSampledSpans(client, resolved, query, sampling);
  const sql =
    `SELECT s.__service AS __name, countIf(${IS_ENTRY}) AS __requests, countIf(s.__is_error AND ${IS_ENTRY}), ` +
    `quantilesIf(0.5, 0.95)(s.__duration, ${IS_ENTRY}) FROM ${joinParents(spans)} ` +
    `GROUP BY __name ORDER BY __requests DESC, __name LIMIT ${spans.writer.bind(MAX_NODES + 1, 'UInt32')}`;
  return {
    statement: spans.statement(sql),
    collect: (rows) =>
      rows.map(([name, ...load]) => ({ kind: 'service', name: String(name), ...toLoad(load, sampling) })),
  };
}

type NamedLoad = NodeName & Load;

/** A span of another service than its parent is a request from there; within a service, a server below a client is a call to itself. */
const IS_CALL = 'p.__known AND (p.__service != s.__service OR (p.__is_client AND s.__is_server))';
/** A consumer takes from the queue that it names if its producer is unknown or of the same service. */
const TAKES_FROM_QUEUE = 's.__is_consumer AND (NOT p.__known OR (p.__service = s.__service AND p.__is_exit))';

/**
 * The edges: each call and each message counts once for each service that it arrives at. A client or producer is a request
 * to the database, queue or address that it names, unless a server, or a consumer of another service, is below it.
 */
export function planEdges(
  client: QueryClient,
  resolved: ResolvedSource,
  query: SpanQuery,
  sampling: Sampling,
): Plan<NamedEdge[]> {
  const spans = createSampledSpans(client, resolved, query, sampling);
  const { columns, parentKey, hasParent, all, writer, statement } = spans;
  const isArrival = columns.isKind('server', 'consumer');
  const answered = all([parentKey], hasParent, isArrival);
  const arrivals = all(
    [`${parentKey} AS __k`, ownService(spans), `${columns.isKind('consumer')} AS __c`],
    hasParent,
    isArrival,
  );
  const onlyOwnConsumers = `SELECT __k, any(__service) FROM (${arrivals}) GROUP BY __k HAVING min(__service) = max(__service) AND min(__c) = 1`;
  const isUnanswered = `(s.__key NOT IN (${answered}) OR (s.__key, s.__service) IN (${onlyOwnConsumers}))`;
  const service = (name: string) => `('service', '', ${name})`;
  const none = "(('', '', ''), ('', '', ''))";
  const edges = [
    `if(${IS_CALL}, (${service('toString(p.__service)')}, ${service('toString(s.__service)')}), ${none})`,
    `if(s.__is_exit AND s.__target.1 != '' AND ${isUnanswered}, (${service('toString(s.__service)')}, s.__target), ${none})`,
    `if(${TAKES_FROM_QUEUE} AND s.__target.1 = 'queue', (s.__target, ${service('toString(s.__service)')}), ${none})`,
  ];
  const found =
    `SELECT arrayJoin(arrayFilter(edge -> edge.1.1 != '', [${edges.join(', ')}])) AS __edge, ` +
    `s.__is_error AS __is_error, s.__duration AS __duration FROM ${joinParents(spans)}`;
  const sql =
    'SELECT __edge.1, __edge.2, count() AS __requests, countIf(__is_error), quantiles(0.5, 0.95)(__duration) ' +
    `FROM (${found}) GROUP BY __edge ORDER BY __requests DESC, __edge LIMIT ${writer.bind(MAX_EDGES + 1, 'UInt32')}`;
  return {
    statement: statement(sql),
    collect: (rows) =>
      rows.map(([from, to, ...load]) => ({ from: toName(from), to: toName(to), ...toLoad(load, sampling) })),
  };
}

const ownService = ({ columns }: SampledSpans): string => `${columns.text('serviceNameExpression')} AS __service`;

/** `s` are the matching spans, `p` their parents. */
function joinParents(spans: SampledSpans): string {
  const { columns, key, parentKey, matching, all } = spans;
  const isExit = `${columns.isKind('client', 'producer')} AS __is_exit`;
  const serviceName = ownService(spans);
  const matched = matching([
    `${key} AS __key`,
    `${parentKey} AS __parent`,
    serviceName,
    `${columns.isKind('server', 'consumer')} AS __is_entry`,
    `${columns.isKind('server')} AS __is_server`,
    `${columns.isKind('consumer')} AS __is_consumer`,
    isExit,
    `${columns.durationNs()} AS __duration`,
    `${columns.isError()} AS __is_error`,
    `${targetSql(columns.attributes('SpanAttributes'))} AS __target`,
  ]);
  const isClient = `${columns.isKind('client')} AS __is_client`;
  const parents = all([`${key} AS __key`, serviceName, isExit, isClient, '1 AS __known']);
  return `(${matched}) AS s LEFT ANY JOIN (${parents}) AS p ON s.__parent = p.__key`;
}

/** What a client names as its target, by the semantic conventions of OpenTelemetry: kind, system and name. */
function targetSql(attributes: string): string {
  const first = (...keys: string[]) =>
    `coalesce(${keys.map((name) => `nullIf(toString(${attributes}['${name}']), '')`).join(', ')}, '')`;
  const or = (name: string, fallback: string) => `if(${name} = '', ${fallback}, ${name})`;
  const address = ['server.address', 'net.peer.name'];
  const database = first('db.system.name', 'db.system');
  const queue = first('messaging.system');
  const external = first('peer.service', ...address);
  return (
    `multiIf(${database} != '', ('database', ${database}, ${or(first('db.namespace', 'db.name', ...address), database)}), ` +
    `${queue} != '', ('queue', ${queue}, ${or(first('messaging.destination.name', 'messaging.destination'), queue)}), ` +
    `${external} != '', ('external', '', ${external}), ('', '', ''))`
  );
}

function toName(value: unknown): NodeName {
  const [kind, system, name] = value as [Node['kind'], string, string];
  return { kind, name, ...(system !== '' && { system }) };
}

function toLoad([requests, errors, quantiles]: unknown[], { oneIn }: Sampling): Load {
  const [p50Ns = 0, p95Ns = 0] = (quantiles as unknown[]).map(Number);
  return { requests: Number(requests) * oneIn, errors: Number(errors) * oneIn, p50Ns, p95Ns };
}

const toId = ({ kind, system, name }: NodeName): string =>
  system === undefined ? `${kind}:${name}` : `${kind}:${system.replaceAll(':', '%3A')}:${name}`;

/** The requests of a node that is no service are those of its edges. An edge needs both of its nodes. */
export function toServiceMap(
  services: readonly NamedLoad[],
  edges: readonly NamedEdge[],
): Pick<ServiceMapRecord, 'nodes' | 'edges' | 'truncated'> {
  const nodes = new Map<string, Node>();
  for (const service of services) nodes.set(toId(service), { id: toId(service), ...service });
  for (const { from, to, requests, errors } of edges) {
    for (const end of [from, to]) {
      const id = toId(end);
      const node = nodes.get(id) ?? { id, ...end, requests: 0, errors: 0 };
      nodes.set(id, node);
      if (end.kind === 'service') continue;
      node.requests += requests;
      node.errors += errors;
    }
  }
  const shown = [...nodes.values()].sort((a, b) => b.requests - a.requests).slice(0, MAX_NODES);
  const ids = new Set(shown.map(({ id }) => id));
  const linked = edges
    .map(({ from, to, ...load }): Edge => ({ from: toId(from), to: toId(to), ...load }))
    .filter(({ from, to }) => ids.has(from) && ids.has(to))
    .slice(0, MAX_EDGES);
  return { nodes: shown, edges: linked, truncated: shown.length < nodes.size || linked.length < edges.length };
}
