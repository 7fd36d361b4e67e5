import { type PointerEvent, useRef } from 'react';
import { CloseIcon } from '../dashboards/icons.tsx';
import { shortenText } from './conditions.ts';
import classes from './row-table.module.css';

interface Props {
  name: string;
  title: string;
  /** In pixels; undefined if it was not changed. */
  width: number | undefined;
  onResize: (width: number) => void;
  onRemove: (() => void) | undefined;
}

const MIN_PX = 60;
const MAX_PX = 2000;
const STEP_PX = 20;

/** The header of a column with a handle for its width. */
export function ColumnHeader({ name, title, width, onResize, onRemove }: Props) {
  const cell = useRef<HTMLTableCellElement>(null);
  const label = shortenText(name);
  const measure = () => width ?? Math.round(cell.current?.getBoundingClientRect().width ?? MIN_PX);
  const resize = (px: number) => onResize(Math.min(Math.max(Math.round(px), MIN_PX), MAX_PX));
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
    <th ref={cell} scope="col" className={classes.header} title={title}>
      <span className={classes.name}>{name}</span>
      {onRemove && (
        <button type="button" className={classes.remove} aria-label={`Remove column ${label}`} onClick={onRemove}>
          <CloseIcon size={12} />
        </button>
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: hr cannot be moved */}
      <div
        role="separator"
        aria-orientation="vertical"
        aria-label={`Width of column ${label}`}
        aria-valuenow={width ?? MIN_PX}
        aria-valuemin={MIN_PX}
        aria-valuemax={MAX_PX}
        tabIndex={0}
        className={classes.handle}
        onPointerDown={startDrag}
        onKeyDown={(event) => {
          if (event.key === 'ArrowLeft') resize(measure() - STEP_PX);
          if (event.key === 'ArrowRight') resize(measure() + STEP_PX);
        }}
      />
    </th>
  );
}
