import { createContext } from 'react';
import type uPlot from 'uplot';

/** Charts with the same key show the instant at which the pointer is in one of them. Undefined: each on its own. */
export const CrosshairContext = createContext<string | undefined>(undefined);

const isMove = (type: string): boolean => type === 'mousemove';

/** By time: the ranges of two charts differ if their buckets do. A dragged range is not shared. */
export const syncCrosshair = (key: string): uPlot.Cursor.Sync => ({
  key,
  setSeries: false,
  scales: ['x', null],
  filters: { pub: isMove, sub: isMove },
});

/** Whether the pointer is in another chart. */
export const isElsewhere = ({ cursor }: uPlot): boolean => cursor.event === null;
