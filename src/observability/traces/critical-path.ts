import { getEnd, type SpanTree, type TimedSpan } from './span-tree.ts';

/** A part of the critical path that a span itself spent. */
export interface CriticalSegment {
  /** The index of the span. */
  span: number;
  startNs: number;
  endNs: number;
}

/** A span on the path, within the bounds that the spans above it leave. */
interface Visit {
  span: number;
  startNs: number;
  endNs: number;
  /** The path after this moment is known. */
  cursorNs: number;
  /** By their end, so that the latest is popped first. */
  children: number[];
}

/**
 * The critical path of a trace: shortening anything else would not end the root earlier. Walks back from the end of the
 * root: the time before a moment is that of the child that finished last before it, and otherwise of the span itself. A
 * child that still runs when a later one on the path starts was not waited for. What lies outside of a parent is cut.
 * The segments are in time order, do not overlap, and together are as long as the root.
 */
export function findCriticalPath(spans: readonly TimedSpan[], tree: SpanTree): CriticalSegment[] {
  const root = findMainRoot(spans, tree);
  if (root === undefined) return [];
  const segments: CriticalSegment[] = [];
  const { offsetNs } = spans[root] as TimedSpan;
  const open = [visit(root, offsetNs, getEnd(spans[root] as TimedSpan))];
  // Not recursive: a trace may be as deep as it has spans.
  for (let current = open.at(-1); current; current = open.at(-1)) {
    const next = current.children.pop();
    if (next === undefined) {
      add(current, current.startNs);
      open.pop();
      continue;
    }
    const child = spans[next] as TimedSpan;
    const isLast = current.cursorNs === current.endNs;
    const end = isLast ? Math.min(getEnd(child), current.endNs) : getEnd(child);
    const start = Math.max(child.offsetNs, current.startNs);
    if (end > current.cursorNs || end <= start) continue;
    add(current, end);
    current.cursorNs = start;
    open.push(visit(next, start, end));
  }
  return segments.reverse();

  function visit(span: number, startNs: number, endNs: number): Visit {
    const children = [...(tree.children[span] ?? [])];
    children.sort((a, b) => getEnd(spans[a] as TimedSpan) - getEnd(spans[b] as TimedSpan) || b - a);
    return { span, startNs, endNs, cursorNs: endNs, children };
  }

  function add({ span, cursorNs }: Visit, startNs: number): void {
    if (cursorNs > startNs) segments.push({ span, startNs, endNs: cursorNs });
  }
}

/** The longest root, or the longest orphan if there is no root. */
function findMainRoot(spans: readonly TimedSpan[], { parents, isOrphan }: SpanTree): number | undefined {
  let main: number | undefined;
  for (const [index, span] of spans.entries()) {
    if (parents[index] !== -1) continue;
    const best = main === undefined ? undefined : spans[main];
    const isBetter = isOrphan(index) === isOrphan(main ?? -1) && span.durationNs > (best?.durationNs ?? 0);
    if (!best || isBetter || (isOrphan(main as number) && !isOrphan(index))) main = index;
  }
  return main;
}
