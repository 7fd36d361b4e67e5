import { useRef } from 'react';
import { ColumnHandle, MIN_COLUMN_PX } from '../../../parts/tables/column-handle.tsx';
import { CloseIcon } from '../../dashboards/icons.tsx';
import { shortenText } from '../conditions.ts';
import classes from './row-table.module.css';

interface Props {
  name: string;
  title: string;
  /** In pixels; undefined if it was not changed. */
  width: number | undefined;
  onResize: (width: number) => void;
  onRemove: (() => void) | undefined;
}

/** The header of a column with a handle for its width. */
export function ColumnHeader({ name, title, width, onResize, onRemove }: Props) {
  const cell = useRef<HTMLTableCellElement>(null);
  const label = shortenText(name);
  return (
    <th ref={cell} scope="col" className={classes.header} title={title}>
      <span className={classes.name}>{name}</span>
      {onRemove && (
        <button type="button" className={classes.remove} aria-label={`Remove column ${label}`} onClick={onRemove}>
          <CloseIcon size={12} />
        </button>
      )}
      <ColumnHandle
        label={label}
        width={width}
        measure={() => width ?? Math.round(cell.current?.getBoundingClientRect().width ?? MIN_COLUMN_PX)}
        onResize={onResize}
      />
    </th>
  );
}
