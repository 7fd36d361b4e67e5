import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CriticalSegment, findCriticalPath } from './critical-path.ts';
import { buildTree, computeSelfTimes, getEnd, type SpanTree, type TimedSpan } from './span-tree.ts';

type Short = [id: string, parent: string, from: number, to: number];

const toSpans = (list: Short[]): TimedSpan[] =>
  list.map(([spanId, parentSpanId, from, to]) => ({ spanId, parentSpanId, offsetNs: from, durationNs: to - from }));

function findPath(list: Short[]): [string, number, number][] {
  const spans = toSpans(list);
  return findCriticalPath(spans, buildTree(spans)).map(({ span, startNs, endNs }) => [
    spans[span]?.spanId ?? '',
    startNs,
    endNs,
  ]);
}

const listSelfTimes = (list: Short[]): number[] => computeSelfTimes(toSpans(list), buildTree(toSpans(list)));

describe('the critical path', () => {
  it('of no spans is empty; of one span it is the span', () => {
    expect(findPath([])).toEqual([]);
    expect(findPath([['a', '', 5, 9]])).toEqual([['a', 5, 9]]);
    expect(findPath([['a', '', 5, 5]])).toEqual([]);
  });

  it('follows the child that finished last, then the one that finished before it started', () => {
    expect(
      findPath([
        ['root', '', 0, 100],
        ['a', 'root', 5, 30],
        ['b', 'root', 10, 60],
        ['c', 'root', 40, 90],
      ]),
    ).toEqual([
      ['root', 0, 5],
      ['a', 5, 30],
      ['root', 30, 40],
      ['c', 40, 90],
      ['root', 90, 100],
    ]);
  });

  it('cuts what lies outside of the parent, at every level', () => {
    expect(
      findPath([
        ['root', '', 10, 50],
        ['early', 'root', 0, 20],
        ['late', 'root', 30, 80],
        ['deep', 'late', 40, 90],
        ['after', 'root', 60, 70],
      ]),
    ).toEqual([
      ['early', 10, 20],
      ['root', 20, 30],
      ['late', 30, 40],
      ['deep', 40, 50],
    ]);
  });

  it('is that of the longest root, or of the longest orphan', () => {
    expect(
      findPath([
        ['a', '', 0, 5],
        ['b', '', 1, 20],
        ['orphan', 'lost', 0, 99],
      ]),
    ).toEqual([['b', 1, 20]]);
    expect(
      findPath([
        ['a', 'lost', 0, 5],
        ['b', 'lost', 1, 20],
      ]),
    ).toEqual([['b', 1, 20]]);
    expect(
      findPath([
        ['orphan', 'lost', 0, 9],
        ['root', '', 1, 1],
      ]),
    ).toEqual([]);
  });

  it('exists in traces with cycles and repeated ids', () => {
    expect(
      findPath([
        ['a', 'b', 0, 10],
        ['b', 'a', 2, 8],
      ]),
    ).toEqual([
      ['a', 0, 2],
      ['b', 2, 8],
      ['a', 8, 10],
    ]);
    expect(findPath([['a', 'a', 0, 10]])).toEqual([['a', 0, 10]]);
    expect(
      findPath([
        ['a', '', 0, 10],
        ['a', 'a', 1, 9],
        ['a', 'a', 2, 8],
      ]).reduce((sum, [, from, to]) => sum + to - from, 0),
    ).toBe(10);
  });

  it('of a chain of 100,000 spans and of 100,000 siblings is found', () => {
    const size = 100_000;
    const chain = Array.from(
      { length: size },
      (_, at): Short => [`${at}`, at === 0 ? '' : `${at - 1}`, at, 2 * size - at],
    );
    expect(findPath(chain).length).toBe(2 * size - 1);
    const siblings = Array.from(
      { length: size },
      (_, at): Short => [`${at}`, at === 0 ? '' : '0', at, at === 0 ? size : at + 1],
    );
    expect(findPath(siblings).length).toBe(size);
    expect(listSelfTimes(siblings)[0]).toBe(1);
    const cycle = Array.from({ length: size }, (_, at): Short => [`${at}`, `${(at + 1) % size}`, at, at + 10]);
    expect(findPath(cycle).length).toBeGreaterThan(0);
  });
});

describe('self time', () => {
  it('subtracts children once where they overlap, and only within the span', () => {
    expect(
      listSelfTimes([
        ['root', '', 10, 100],
        ['a', 'root', 0, 20],
        ['b', 'root', 30, 60],
        ['c', 'root', 40, 50],
        ['d', 'root', 50, 70],
        ['e', 'root', 95, 200],
      ]),
    ).toEqual([35, 20, 30, 10, 20, 105]);
  });
});

/** As the definition says: looks at all children for every step, and recurses. */
function findSlowly(spans: readonly TimedSpan[], { children }: SpanTree, root: number): CriticalSegment[] {
  const walk = (span: number, startNs: number, endNs: number): CriticalSegment[] => {
    const path: CriticalSegment[] = [];
    let cursor = endNs;
    for (let isLast = true; ; isLast = false) {
      const fits = (children[span] ?? []).flatMap((child) => {
        const one = spans[child] as TimedSpan;
        const end = isLast ? Math.min(getEnd(one), endNs) : getEnd(one);
        const start = Math.max(one.offsetNs, startNs);
        return end <= cursor && end > start ? [{ child, start, end, realEnd: getEnd(one) }] : [];
      });
      fits.sort((a, b) => b.realEnd - a.realEnd || a.child - b.child);
      const [next] = fits;
      if (next === undefined) break;
      path.unshift({ span, startNs: next.end, endNs: cursor });
      path.unshift(...walk(next.child, next.start, next.end));
      cursor = next.start;
    }
    path.unshift({ span, startNs, endNs: cursor });
    return path.filter((part) => part.endNs > part.startNs);
  };
  const span = spans[root] as TimedSpan;
  return walk(root, span.offsetNs, getEnd(span));
}

describe('any trace', () => {
  const ids = fc.constantFrom('', 'a', 'b', 'c', 'd', 'e', 'f', 'lost');
  const trace = fc
    .array(fc.tuple(ids, ids, fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 20 })), { maxLength: 14 })
    .map((list) => toSpans(list.map(([id, parent, from, length]): Short => [id, parent, from, from + length])))
    .map((spans) => spans.sort((a, b) => a.offsetNs - b.offsetNs));

  it('has a tree without cycles that contains every span', () => {
    fc.assert(
      fc.property(trace, (spans) => {
        const { parents, children, isOrphan } = buildTree(spans);
        for (const index of spans.keys()) {
          let steps = 0;
          for (let at = index; at !== -1; at = parents[at] as number) expect(++steps).toBeLessThanOrEqual(spans.length);
          expect(isOrphan(index)).toBe(parents[index] === -1 && spans[index]?.parentSpanId !== '');
        }
        const roots = spans.filter((_, index) => parents[index] === -1).length;
        expect(roots + children.flat().length).toBe(spans.length);
      }),
    );
  });

  it('has the critical path of the definition, as long as its root and without gaps', () => {
    fc.assert(
      fc.property(trace, (spans) => {
        const tree = buildTree(spans);
        const path = findCriticalPath(spans, tree);
        if (path.length === 0) return;
        const lengths = [...spans.keys()].filter((index) => {
          const { offsetNs } = spans[index] as TimedSpan;
          return (
            tree.parents[index] === -1 &&
            offsetNs === path[0]?.startNs &&
            getEnd(spans[index] as TimedSpan) === path.at(-1)?.endNs
          );
        });
        expect(lengths.map((root) => findSlowly(spans, tree, root))).toContainEqual(path);
        for (const [index, { startNs }] of path.entries()) if (index > 0) expect(startNs).toBe(path[index - 1]?.endNs);
      }),
      { numRuns: 1000 },
    );
  });

  it('has self times that count every nanosecond in which no child ran', () => {
    fc.assert(
      fc.property(trace, (spans) => {
        const tree = buildTree(spans);
        const counted = spans.map(({ offsetNs, durationNs }, index) => {
          const own = (tree.children[index] ?? []).map((child) => spans[child] as TimedSpan);
          const moments = Array.from({ length: durationNs }, (_, at) => offsetNs + at);
          return moments.filter((at) => !own.some((child) => child.offsetNs <= at && at < getEnd(child))).length;
        });
        expect(computeSelfTimes(spans, tree)).toEqual(counted);
      }),
    );
  });
});
