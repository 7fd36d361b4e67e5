import type { GetTraceResult } from '../../api/generated.ts';

export type Trace = GetTraceResult;
export type Span = Trace['spans'][number];
export type Log = Trace['logs'][number];

/**
 * The spans of a trace with their logs. A node is a number: the index of a span, or the number of spans plus the index of
 * a log.
 */
export interface TraceTree {
  trace: Trace;
  /** Roots, orphans, and logs without a span of the trace, by time. */
  roots: readonly number[];
  /** Of each span: its children and logs, by time. */
  children: readonly (readonly number[])[];
  /** Of each node; -1 for a root. */
  parents: Int32Array;
  /** Of each node. */
  depths: Int32Array;
  /** Of each span: the spans below it, and those of them with an error. */
  spansBelow: Int32Array;
  errorsBelow: Int32Array;
}

export const findSpan = ({ trace }: TraceTree, node: number): Span | undefined => trace.spans[node];
export const findLog = ({ trace }: TraceTree, node: number): Log | undefined => trace.logs[node - trace.spans.length];

export function buildTree(trace: Trace): TraceTree {
  const { spans, logs } = trace;
  const parents = findParents(trace);
  const offset = (node: number) => (spans[node] ?? logs[node - spans.length])?.offsetNs ?? 0;
  const children: number[][] = spans.map(() => []);
  const roots: number[] = [];
  for (const [node, parent] of parents.entries()) (children[parent] ?? roots).push(node);
  for (const list of [roots, ...children]) list.sort((a, b) => offset(a) - offset(b) || a - b);
  const nodes = walk(roots, children, () => true);
  return {
    trace,
    roots,
    children,
    parents,
    depths: measureDepths(nodes, parents),
    ...countBelow(trace, nodes, parents),
  };
}

function findParents({ spans, logs }: Trace): Int32Array {
  const indexes = new Map<string, number>();
  for (const [index, { spanId }] of spans.entries()) if (!indexes.has(spanId)) indexes.set(spanId, index);
  return Int32Array.from([
    ...spans.map(({ parentIndex }) => parentIndex ?? -1),
    ...logs.map(({ spanId }) => indexes.get(spanId) ?? -1),
  ]);
}

/** A parent is before its children in `nodes`. */
function measureDepths(nodes: readonly number[], parents: Int32Array): Int32Array {
  const depths = new Int32Array(parents.length);
  for (const node of nodes) {
    const parent = parents[node] ?? -1;
    depths[node] = parent === -1 ? 0 : (depths[parent] ?? 0) + 1;
  }
  return depths;
}

function countBelow({ spans }: Trace, nodes: readonly number[], parents: Int32Array) {
  const spansBelow = new Int32Array(spans.length);
  const errorsBelow = new Int32Array(spans.length);
  for (const node of nodes.toReversed()) {
    const parent = parents[node] ?? -1;
    const span = spans[node];
    if (!span || parent === -1) continue;
    spansBelow[parent] = (spansBelow[parent] ?? 0) + (spansBelow[node] ?? 0) + 1;
    errorsBelow[parent] = (errorsBelow[parent] ?? 0) + (errorsBelow[node] ?? 0) + (span.isError ? 1 : 0);
  }
  return { spansBelow, errorsBelow };
}

/** Without recursion: a trace may be 10,000 spans deep. */
function walk(roots: readonly number[], children: TraceTree['children'], isOpen: (node: number) => boolean): number[] {
  const found: number[] = [];
  const stack = roots.toReversed();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    found.push(node);
    const below = children[node];
    if (below && isOpen(node)) for (let at = below.length - 1; at >= 0; at -= 1) stack.push(below[at] as number);
  }
  return found;
}

const isSpan = ({ trace }: TraceTree, node: number): boolean => node < trace.spans.length;

/** What is shown, from top to bottom. */
export function listRows(tree: TraceTree, collapsed: ReadonlySet<number>, showsLogs: boolean): number[] {
  const rows = walk(tree.roots, tree.children, (node) => !collapsed.has(node));
  return showsLogs ? rows : rows.filter((node) => isSpan(tree, node));
}

export const canExpand = (tree: TraceTree, node: number, showsLogs: boolean): boolean =>
  showsLogs ? (tree.children[node]?.length ?? 0) > 0 : (tree.spansBelow[node] ?? 0) > 0;

/** The node and all spans below it. */
export const listSubtree = (tree: TraceTree, node: number): number[] =>
  walk([node], tree.children, () => true).filter((one) => isSpan(tree, one));

export function listAncestors({ parents }: TraceTree, node: number): number[] {
  const found: number[] = [];
  for (let at = parents[node] ?? -1; at !== -1; at = parents[at] ?? -1) found.push(at);
  return found;
}

/** How the URL names a node: by the id of the span, with a number if several spans have it, or by the index of the log. */
export function createNodeNames({ trace }: TraceTree): {
  names: readonly string[];
  find(name: string): number | undefined;
} {
  const counts = new Map<string, number>();
  const names = trace.spans.map(({ spanId }) => {
    const count = (counts.get(spanId) ?? 0) + 1;
    counts.set(spanId, count);
    return count === 1 ? spanId : `${spanId}.${count}`;
  });
  for (const index of trace.logs.keys()) names.push(`log-${index}`);
  const nodes = new Map(names.map((name, node) => [name, node]));
  return { names, find: (name) => nodes.get(name) };
}

/** The text of each node in lower case, in which the search looks. */
export function createSearchTexts({ trace: { spans, logs } }: TraceTree): string[] {
  const entries = (map: Record<string, unknown>) =>
    Object.entries(map).map(([key, value]) => `${key} ${String(value)}`);
  return [
    ...spans.map(({ name, service, spanId, kind, statusMessage, attributes, resourceAttributes, events }) =>
      [
        ...[name, service, spanId, kind, statusMessage, ...entries(attributes), ...entries(resourceAttributes)],
        ...events.flatMap((event) => [event.name, ...entries(event.attributes)]),
      ].join('\n'),
    ),
    ...logs.map(({ body, service, severity, attributes }) =>
      [body, service, severity, ...entries(attributes)].join('\n'),
    ),
  ].map((text) => text.toLowerCase());
}
