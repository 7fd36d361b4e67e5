import { useHotkeys } from '@mantine/hooks';
import { type KeyboardEvent, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { canExpand, createSearchTexts, listAncestors, listRows, listSubtree, type TraceTree } from './trace-tree.ts';
import { scrollToRow } from './waterfall.tsx';

const PAGE_ROWS = 20;

interface Given {
  tree: TraceTree;
  /** The node whose details are open. */
  selected: number | undefined;
  onSelect: (node: number | undefined) => void;
}

/** What the waterfall shows, and how keys change it. */
export function useWaterfall({ tree, selected, onSelect }: Given) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<number>>(new Set());
  const [showsLogs, setShowsLogs] = useState(true);
  const [cursor, setCursor] = useState(selected);
  const [text, setText] = useState('');
  const scroller = useRef<HTMLDivElement>(null);
  const searchField = useRef<HTMLInputElement>(null);
  const active = selected ?? cursor;

  const rows = useMemo(() => listRows(tree, collapsed, showsLogs), [tree, collapsed, showsLogs]);
  const { found, matches } = useMatches(tree, useDeferredValue(text), showsLogs);

  // Also for a node in the URL. Rows change when ancestors were expanded.
  useEffect(() => {
    if (active !== undefined) scrollToRow(scroller.current, rows.indexOf(active));
  }, [active, rows]);
  // On small screens the details cover a part of the rows.
  useEffect(() => {
    if (selected !== undefined)
      scroller.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [selected]);

  const moveTo = useCallback(
    (node: number | undefined) => {
      if (node === undefined) return;
      setCursor(node);
      if (selected !== undefined) onSelect(node);
    },
    [selected, onSelect],
  );
  const step = useCallback(
    (by: number) => {
      const at = findRow(tree, rows, active);
      moveTo(rows[Math.min(rows.length - 1, Math.max(0, at + by))]);
      scroller.current?.focus({ preventScroll: true });
    },
    [tree, active, rows, moveTo],
  );
  const toggle = useCallback(
    (node: number, withSubtree: boolean) =>
      setCollapsed((before) => {
        const nodes = new Set(withSubtree ? listSubtree(tree, node) : [node]);
        return before.has(node)
          ? new Set([...before].filter((one) => !nodes.has(one)))
          : new Set([...before, ...nodes]);
      }),
    [tree],
  );
  const goToMatch = (by: 1 | -1) => {
    if (found.length === 0) return;
    const at = active === undefined ? -1 : found.indexOf(active);
    const next = at === -1 ? (by === 1 ? 0 : found.length - 1) : (at + by + found.length) % found.length;
    const node = found[next] as number;
    const ancestors = new Set(listAncestors(tree, node));
    setCollapsed((before) => new Set([...before].filter((one) => !ancestors.has(one))));
    moveTo(node);
  };

  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey) return;
    const isOpen = active !== undefined && canExpand(tree, active, showsLogs) ? !collapsed.has(active) : undefined;
    const parent = active === undefined ? -1 : (tree.parents[active] ?? -1);
    const actions: Record<string, () => void> = {
      ArrowDown: () => step(1),
      ArrowUp: () => step(-1),
      PageDown: () => step(PAGE_ROWS),
      PageUp: () => step(-PAGE_ROWS),
      Home: () => step(-rows.length),
      End: () => step(rows.length),
      ArrowRight: () => active !== undefined && (isOpen === false ? toggle(active, event.altKey) : isOpen && step(1)),
      ArrowLeft: () =>
        active !== undefined && (isOpen ? toggle(active, event.altKey) : parent !== -1 && moveTo(parent)),
      Enter: () => active !== undefined && onSelect(active),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  useHotkeys([
    ['j', () => step(1)],
    ['k', () => step(-1)],
    ['/', () => searchField.current?.focus()],
    ['Escape', () => onSelect(undefined), { preventDefault: false }],
  ]);

  return {
    ...{
      rows,
      collapsed,
      showsLogs,
      setShowsLogs,
      active,
      scroller,
      searchField,
      text,
      setText,
      matches,
      onKey,
      toggle,
    },
    select: useCallback(
      (node: number) => {
        setCursor(node);
        onSelect(node);
      },
      [onSelect],
    ),
    close: () => onSelect(undefined),
    goToMatch,
    matchCount: found.length,
    /** The place of the active row among the matches, from 1; 0 if it is none. */
    matchPlace: active === undefined ? 0 : found.indexOf(active) + 1,
    collapseAll: () => setCollapsed(new Set(tree.trace.spans.keys())),
    expandAll: () => setCollapsed(new Set()),
  };
}

/** The row of the node, or of the collapsed span that hides it; -1 if there is none. */
function findRow(tree: TraceTree, rows: readonly number[], node: number | undefined): number {
  if (node === undefined) return -1;
  const found = rows.indexOf(node);
  if (found !== -1) return found;
  const shown = new Set(rows);
  return rows.indexOf(listAncestors(tree, node).find((one) => shown.has(one)) ?? -1);
}

/** The nodes that contain the text, in the order of the waterfall without collapsed spans. */
function useMatches(tree: TraceTree, text: string, showsLogs: boolean) {
  const texts = useRef<{ tree: TraceTree; list: string[] }>(undefined);
  return useMemo(() => {
    const wanted = text.trim().toLowerCase();
    if (wanted === '') return { found: [], matches: new Set<number>() };
    if (texts.current?.tree !== tree) texts.current = { tree, list: createSearchTexts(tree) };
    const { list } = texts.current;
    const found = listRows(tree, new Set(), showsLogs).filter((node) => list[node]?.includes(wanted));
    return { found, matches: new Set(found) };
  }, [tree, text, showsLogs]);
}
