import { type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import { plural } from '../../parts/format/format.ts';
import { findSpan, listRows, type TraceTree } from './trace-tree.ts';
import { clampView, getPlace, type ViewRange } from './view-range.ts';
import classes from './waterfall.module.css';

interface Props {
  tree: TraceTree;
  colors: ReadonlyMap<string, string>;
  whole: ViewRange;
  view: ViewRange;
  onZoom: (view: ViewRange) => void;
}

/** Shorter drags are clicks. */
const MIN_DRAG = 0.004;
const NONE: ReadonlySet<number> = new Set();

/** The whole trace in a small space. A drag selects the part that the waterfall shows. */
export function Minimap({ tree, colors, whole, view, onZoom }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [drag, setDrag] = useState<{ from: number; to: number }>();
  const spans = useMemo(() => listRows(tree, NONE, false).flatMap((node) => findSpan(tree, node) ?? []), [tree]);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context) return undefined;
    const draw = () => {
      const { clientWidth, clientHeight } = element;
      const ratio = window.devicePixelRatio || 1;
      [element.width, element.height] = [clientWidth * ratio, clientHeight * ratio];
      context.scale(ratio, ratio);
      const height = Math.min(6, Math.max(1, clientHeight / spans.length));
      for (const [index, span] of spans.entries()) {
        context.fillStyle = colors.get(span.service) ?? '#888';
        const left = getPlace(span.offsetNs, whole) * clientWidth;
        const width = Math.max(1, (span.durationNs / (whole.end - whole.start)) * clientWidth);
        context.fillRect(left, (index / spans.length) * (clientHeight - height), width, height);
      }
    };
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    return () => observer.disconnect();
  }, [spans, colors, whole]);

  const locate = (event: PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  const finish = () => {
    setDrag(undefined);
    if (!drag) return;
    const [from, to] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
    if (to - from >= MIN_DRAG) onZoom(clampView({ start: from * whole.end, end: to * whole.end }, whole));
  };
  const selected = drag
    ? { start: Math.min(drag.from, drag.to), end: Math.max(drag.from, drag.to) }
    : { start: getPlace(view.start, whole), end: getPlace(view.end, whole) };
  return (
    <div
      className={classes.minimap}
      role="img"
      aria-label={`Minimap of ${plural(spans.length, 'span')}. Drag to zoom`}
      data-testid="minimap"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        const at = locate(event);
        setDrag({ from: at, to: at });
      }}
      onPointerMove={(event) => drag && setDrag({ ...drag, to: locate(event) })}
      onPointerUp={finish}
      onPointerCancel={() => setDrag(undefined)}
    >
      <canvas ref={canvas} className={classes.canvas} />
      <span className={classes.shade} style={{ left: 0, width: `${selected.start * 100}%` }} />
      <span className={classes.shade} style={{ right: 0, width: `${(1 - selected.end) * 100}%` }} />
    </div>
  );
}
