import { useCallback, useRef, useState } from 'react';
import type { Tile } from '../queries.ts';

export interface PointTarget {
  /** For the query of a tile with a time axis. */
  points: number | undefined;
  /** False until the width of the tile is known. */
  isKnown: boolean;
}

/** Few different targets, so that tiles and screens of similar widths share queries and their cached results. */
const TARGETS = [30, 60, 100, 150, 300];
/** The axis and the padding of the tile. */
const MARGIN_PX = 80;
const PX_PER_POINT = { line: 4, stacked_bar: 9 };
type Drawing = keyof typeof PX_PER_POINT;

const chooseTarget = (width: number, display: Drawing): number =>
  TARGETS.findLast((points) => points * PX_PER_POINT[display] <= width - MARGIN_PX) ?? (TARGETS[0] as number);

/** How many points fit the width of the element with `ref`. Only tiles with a time axis need it. */
export function usePointTarget({ series: [first] }: Tile): PointTarget & { ref: (element: Element | null) => void } {
  const [widths, setWidths] = useState<Record<Drawing, number>>();
  const observer = useRef<ResizeObserver>(undefined);
  const ref = useCallback((element: Element | null) => {
    observer.current?.disconnect();
    if (!element) return;
    observer.current = new ResizeObserver(([entry]) => {
      const width = entry?.contentRect.width ?? 0;
      if (width === 0) return;
      const next = { line: chooseTarget(width, 'line'), stacked_bar: chooseTarget(width, 'stacked_bar') };
      // The same object if nothing changed, so that resizing does not render the tile again.
      setWidths((before) => (before?.line === next.line && before.stacked_bar === next.stacked_bar ? before : next));
    });
    observer.current.observe(element);
  }, []);
  const isTime = first?.type === 'time' || first?.type === 'heatmap';
  const isWide = first?.type === 'heatmap' || first?.displayType === 'stacked_bar';
  return {
    ref,
    points: isTime ? widths?.[isWide ? 'stacked_bar' : 'line'] : undefined,
    isKnown: !isTime || widths !== undefined,
  };
}
