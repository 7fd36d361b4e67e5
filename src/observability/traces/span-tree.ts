/** What the structure of a trace depends on. Times are nanoseconds after the start of the trace. */
export interface TimedSpan {
  spanId: string;
  /** Empty for a root. */
  parentSpanId: string;
  offsetNs: number;
  durationNs: number;
}

export interface SpanTree {
  /** The index of each span's parent; -1 for roots and orphans. Following it always ends. */
  parents: Int32Array;
  /** The children of each span by index, in the order of the spans. */
  children: readonly (readonly number[])[];
  /** The span names a parent that is not there, or is the start of a cycle. */
  isOrphan(index: number): boolean;
}

const NONE = -1;

/**
 * Finds the parents. If several spans have the same id, the first one is the parent. A cycle is opened at its first span.
 * Linear, and without recursion: a trace may be as deep as it has spans.
 */
export function buildTree(spans: readonly TimedSpan[]): SpanTree {
  const byId = new Map<string, number>();
  for (const [index, { spanId }] of spans.entries()) if (!byId.has(spanId)) byId.set(spanId, index);
  const parents = Int32Array.from(spans, ({ parentSpanId }) =>
    parentSpanId === '' ? NONE : (byId.get(parentSpanId) ?? NONE),
  );
  openCycles(parents);
  const children: number[][] = spans.map(() => []);
  for (const [index, parent] of parents.entries()) if (parent !== NONE) children[parent]?.push(index);
  return {
    parents,
    children,
    isOrphan: (index) => parents[index] === NONE && spans[index]?.parentSpanId !== '',
  };
}

/** Each span is walked once: a walk stops where an earlier one has been. */
function openCycles(parents: Int32Array): void {
  const walkOf = new Int32Array(parents.length).fill(NONE);
  for (let start = 0; start < parents.length; start++) {
    let at = start;
    while (at !== NONE && walkOf[at] === NONE) {
      walkOf[at] = start;
      at = parents[at] as number;
    }
    if (at !== NONE && walkOf[at] === start) parents[findFirst(parents, at)] = NONE;
  }
}

/** The span of a cycle that comes first, which is the earliest one. */
function findFirst(parents: Int32Array, member: number): number {
  let first = member;
  for (let at = parents[member] as number; at !== member; at = parents[at] as number) first = Math.min(first, at);
  return first;
}

export const getEnd = ({ offsetNs, durationNs }: TimedSpan): number => offsetNs + durationNs;

/** The time in which a span ran and none of its children did. */
export function computeSelfTimes(spans: readonly TimedSpan[], { children }: SpanTree): number[] {
  return spans.map((span, index) => {
    const end = getEnd(span);
    const own = (children[index] ?? []).map((child) => spans[child] as TimedSpan);
    own.sort((a, b) => a.offsetNs - b.offsetNs);
    let covered = 0;
    let until = span.offsetNs;
    for (const child of own) {
      const from = Math.max(child.offsetNs, until);
      const to = Math.min(getEnd(child), end);
      if (to <= from) continue;
      covered += to - from;
      until = to;
    }
    return Math.max(0, span.durationNs - covered);
  });
}
