import type { PointerEvent } from 'react';
import classes from './column-handle.module.css';

interface Props {
  /** The name of the column. */
  label: string;
  /** In pixels; undefined if it was not changed. */
  width: number | undefined;
  /** The width now. */
  measure: () => number;
  onResize: (width: number) => void;
}

export const MIN_COLUMN_PX = 60;
const MAX_PX = 2000;
const STEP_PX = 20;

/** A handle at the end of a header cell that changes the width of the column, by pointer or arrow keys. */
export function ColumnHandle({ label, width, measure, onResize }: Props) {
  const resize = (px: number) => onResize(Math.min(Math.max(Math.round(px), MIN_COLUMN_PX), MAX_PX));
  const startDrag = (down: PointerEvent<HTMLElement>) => {
    const handle = down.currentTarget;
    const start = measure();
    down.preventDefault();
    handle.setPointerCapture(down.pointerId);
    const move = (event: globalThis.PointerEvent) => resize(start + event.clientX - down.clientX);
    handle.addEventListener('pointermove', move);
    const end = () => handle.removeEventListener('pointermove', move);
    handle.addEventListener('lostpointercapture', end, { once: true });
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: hr cannot be moved
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of column ${label}`}
      aria-valuenow={width ?? MIN_COLUMN_PX}
      aria-valuemin={MIN_COLUMN_PX}
      aria-valuemax={MAX_PX}
      tabIndex={0}
      className={classes.handle}
      onPointerDown={startDrag}
      onKeyDown={(event) => {
        if (event.key === 'ArrowLeft') resize(measure() - STEP_PX);
        if (event.key === 'ArrowRight') resize(measure() + STEP_PX);
      }}
    />
  );
}
