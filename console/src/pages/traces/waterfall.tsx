import {
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useState,
} from 'react';
import { PartBoundary } from '../../parts/layout/part-boundary.tsx';
import { formatExactNs } from './durations.ts';
import { canExpand, findLog, findSpan, type TraceTree } from './trace-tree.ts';
import { getPlace, listTicks, type ViewRange } from './view-range.ts';
import classes from './waterfall.module.css';
import { ROW_PX, WaterfallRow } from './waterfall-row.tsx';

/** Rows before and after the visible ones, and the number of rows by which the window moves. */
const OVERSCAN = 12;
const STEP = 6;

interface Props {
  tree: TraceTree;
  rows: readonly number[];
  collapsed: ReadonlySet<number>;
  showsLogs: boolean;
  view: ViewRange;
  colors: ReadonlyMap<string, string>;
  active: number | undefined;
  matches: ReadonlySet<number>;
  scroller: RefObject<HTMLDivElement | null>;
  onToggle: (node: number, withSubtree: boolean) => void;
  onSelect: (node: number) => void;
  onKey: (event: KeyboardEvent) => void;
}

/** The rows of a trace over time. Only the visible ones are in the document. */
export function Waterfall(props: Props) {
  const { tree, rows, collapsed, showsLogs, view, colors, active, matches, scroller, onToggle, onSelect, onKey } =
    props;
  const prefix = useId();
  const { first, last, update } = useRowWindow(scroller, rows.length);
  const shown = rows.slice(first, last);
  const ticks = listTicks(view);
  const click = (event: MouseEvent) => {
    const target = event.target as Element;
    const row = target.closest('[data-node]');
    if (!row) return;
    const node = Number(row.getAttribute('data-node'));
    if (target.closest('[data-toggle]')) onToggle(node, event.altKey);
    else onSelect(node);
  };
  return (
    <div className={classes.frame}>
      <div className={classes.ruler} aria-hidden="true">
        <span className={classes.name}>Service and operation</span>
        <span className={classes.timeline}>
          {ticks.map((tick) => (
            <span key={tick} className={classes.tick} style={{ left: `${getPlace(tick, view) * 100}%` }}>
              {formatExactNs(tick)}
            </span>
          ))}
        </span>
      </div>
      <div
        ref={scroller}
        className={classes.scroller}
        role="tree"
        tabIndex={0}
        aria-label="Spans and logs"
        aria-activedescendant={active !== undefined && shown.includes(active) ? `${prefix}-${active}` : undefined}
        onScroll={update}
        onClick={click}
        onKeyDown={onKey}
      >
        <div className={classes.rows} style={{ height: rows.length * ROW_PX }} role="none">
          <div className={classes.grid} role="none">
            {ticks.map((tick) => (
              <i key={tick} style={{ left: `${getPlace(tick, view) * 100}%` }} />
            ))}
          </div>
          {shown.map((node, index) => (
            <PartBoundary key={node}>
              <WaterfallRow
                id={`${prefix}-${node}`}
                tree={tree}
                node={node}
                index={first + index}
                view={view}
                color={colors.get((findSpan(tree, node) ?? findLog(tree, node))?.service ?? '') ?? 'currentColor'}
                isOpen={canExpand(tree, node, showsLogs) ? !collapsed.has(node) : undefined}
                isActive={node === active}
                isMatch={matches.has(node)}
              />
            </PartBoundary>
          ))}
        </div>
      </div>
    </div>
  );
}

/** The rows to draw. The window moves in steps, so that scrolling renders seldom. */
function useRowWindow(scroller: RefObject<HTMLDivElement | null>, count: number) {
  const [{ first, last }, setWindow] = useState({ first: 0, last: 40 });
  const update = useCallback(() => {
    const element = scroller.current;
    if (!element) return;
    const top = Math.floor(element.scrollTop / ROW_PX / STEP) * STEP;
    const next = {
      first: Math.max(0, top - OVERSCAN),
      last: Math.min(count, top + Math.ceil(element.clientHeight / ROW_PX) + STEP + OVERSCAN),
    };
    setWindow((before) => (before.first === next.first && before.last === next.last ? before : next));
  }, [scroller, count]);
  useLayoutEffect(update, [update]);
  useEffect(() => {
    const observer = new ResizeObserver(update);
    if (scroller.current) observer.observe(scroller.current);
    return () => observer.disconnect();
  }, [scroller, update]);
  return { first, last, update };
}

/** Scrolls as little as possible to show a row. */
export function scrollToRow(element: HTMLElement | null, index: number): void {
  if (!element || index < 0) return;
  const [top, bottom] = [index * ROW_PX, (index + 1) * ROW_PX];
  if (top < element.scrollTop) element.scrollTop = Math.max(0, top - ROW_PX);
  else if (bottom > element.scrollTop + element.clientHeight)
    element.scrollTop = bottom - element.clientHeight + ROW_PX;
}
