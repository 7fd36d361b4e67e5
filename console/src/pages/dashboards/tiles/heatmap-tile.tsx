import { type PointerEvent, type ReactNode, useMemo, useState } from 'react';
import { formatAxisLabels, formatDateTime } from '../../../parts/format/times.ts';
import { formatValue, type NumberFormat, resolveNumberFormat, withUnit } from '../number-format.ts';
import type { Tile, TileDataByType } from '../queries.ts';
import classes from './distribution.module.css';
import { EmptyTile } from './empty-tile.tsx';
import { drawCells, LEVELS } from './heatmap-cells.ts';
import { formatGroup } from './parts.ts';
import tileClasses from './tiles.module.css';

type HeatmapData = TileDataByType<'heatmap'>;

/** Cells of a distribution: epoch milliseconds and values. */
interface SelectedCells {
  start: number;
  end: number;
  from: number;
  to: number;
  /** `to` is the bound of the last row, which includes it. */
  isLast: boolean;
}

interface Props {
  tile: Tile;
  data: HeatmapData;
  zone: string;
  /** Makes cells of a distribution selectable by dragging. */
  onSelect?: ((cells: SelectedCells) => void) | undefined;
  /** Above the cells. */
  overlay?: ReactNode;
}

interface Cell {
  row: number;
  column: number;
  left: number;
  top: number;
  width: number;
}

/** Positions of the labels on both axes, as parts of their length. */
const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** Cells colored by a number: of values in a range, or the value of a group. */
export function HeatmapTile({ tile, data, zone, onSelect, overlay }: Props) {
  const { rows, buckets, unit, mode } = data;
  const isDistribution = mode === 'distribution';
  const values = useMemo(() => rows.map((row) => row.values.map(toNumber)), [rows]);
  const { paths, low, high } = useMemo(() => drawCells(values), [values]);
  const [hover, setHover] = useState<Cell>();
  const [dragStart, setDragStart] = useState<Cell>();
  if (rows.length === 0 || values.every((row) => row.every((value) => value === null))) return <EmptyTile />;
  const format = withUnit(resolveNumberFormat(tile.series), unit);
  const countFormat = isDistribution ? {} : format;
  const ticks = TICKS.map((part) => (data.start + part * (data.end - data.start)) / 1000);
  const times = formatAxisLabels(ticks, (data.end - data.start) / 1000 / (TICKS.length - 1), zone);
  // The lowest values are at the bottom; the largest group is at the top.
  const labels = isDistribution
    ? TICKS.map((part) => ({ id: String(part), text: formatValue(findBound(rows, 1 - part), format) }))
    : rows.map((row) => ({ id: JSON.stringify(row.group), text: formatRow(row, format) }));
  const locate = (event: PointerEvent<Element>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    const line = Math.floor((top / box.height) * rows.length);
    const column = Math.floor((left / box.width) * buckets.length);
    const isInside = line >= 0 && line < rows.length && column >= 0 && column < buckets.length;
    const row = isDistribution ? rows.length - 1 - line : line;
    return isInside ? { row, column, left, top, width: box.width } : undefined;
  };
  const drag = dragStart && hover ? toArea(dragStart, hover) : undefined;
  const select = () => {
    const [low, high] = [rows[drag?.rowFrom ?? -1], rows[drag?.rowTo ?? -1]];
    setDragStart(undefined);
    if (!drag || low?.from === undefined || high?.to === undefined) return;
    onSelect?.({
      start: buckets[drag.columnFrom] ?? data.start,
      end: buckets[drag.columnTo + 1] ?? data.end,
      ...{ from: low.from, to: high.to, isLast: drag.rowTo === rows.length - 1 },
    });
  };
  return (
    <div className={tileClasses.column}>
      <div
        className={classes.frame}
        role="img"
        aria-label={`${tile.name || 'Heatmap'}: ${data.name} by time, ${rows.length} ${isDistribution ? 'ranges of values' : 'groups'}, interval ${data.granularity}, from ${formatValue(low, countFormat)} to ${formatValue(high, countFormat)} per cell`}
        data-testid="heatmap"
      >
        <div className={classes.scale} data-rows={!isDistribution}>
          {labels.map(({ id, text }) => (
            <span key={id} title={text}>
              {text}
            </span>
          ))}
        </div>
        <div
          className={classes.cells}
          data-selectable={onSelect && isDistribution}
          data-testid="heatmap-cells"
          onPointerMove={(event) => setHover(locate(event) ?? (dragStart && hover))}
          onPointerLeave={() => !dragStart && setHover(undefined)}
          onPointerDown={(event) => {
            if (!onSelect || !isDistribution) return;
            event.currentTarget.setPointerCapture(event.pointerId);
            setHover(locate(event));
            setDragStart(locate(event));
          }}
          onPointerUp={select}
          onPointerCancel={() => setDragStart(undefined)}
        >
          <svg
            className={classes.grid}
            viewBox={`0 0 ${buckets.length} ${rows.length}`}
            preserveAspectRatio="none"
            shapeRendering="crispEdges"
            aria-hidden="true"
          >
            <g transform={isDistribution ? `translate(0 ${rows.length}) scale(1 -1)` : undefined}>
              {paths.map(({ level, path }) => (
                <path key={level} d={path} className={classes[level]} />
              ))}
            </g>
          </svg>
          {overlay}
          {drag && (
            <div
              className={classes.selection}
              style={{
                left: `${(drag.columnFrom / buckets.length) * 100}%`,
                width: `${((drag.columnTo + 1 - drag.columnFrom) / buckets.length) * 100}%`,
                bottom: `${(drag.rowFrom / rows.length) * 100}%`,
                height: `${((drag.rowTo + 1 - drag.rowFrom) / rows.length) * 100}%`,
              }}
            />
          )}
          {hover && (
            <div
              className={`ph-tip ${classes.tip}`}
              style={{
                ...(hover.left > hover.width / 2
                  ? { right: hover.width - hover.left + 12 }
                  : { left: hover.left + 12 }),
                top: Math.max(0, hover.top - 16),
              }}
              data-testid="heatmap-tooltip"
            >
              <div className={classes.tipTime}>{formatDateTime(buckets[hover.column] ?? 0, zone)}</div>
              {formatRow(rows[hover.row], format)}: <b>{formatValue(values[hover.row]?.[hover.column], countFormat)}</b>
            </div>
          )}
        </div>
        <div className={classes.axis}>
          {times.map((label, index) => (
            <span key={TICKS[index]}>{label}</span>
          ))}
        </div>
      </div>
      <div className={classes.legend}>
        {formatValue(low, countFormat)}
        {LEVELS.map((level) => (
          <i key={level} className={classes[level]} aria-hidden="true" />
        ))}
        {formatValue(high, countFormat)}
        <span>{isDistribution ? `values of ${data.name}` : data.name}</span>
      </div>
    </div>
  );
}

const toArea = (a: Cell, b: Cell) => ({
  columnFrom: Math.min(a.column, b.column),
  columnTo: Math.max(a.column, b.column),
  rowFrom: Math.min(a.row, b.row),
  rowTo: Math.max(a.row, b.row),
});

const toNumber = (value: number | string | null): number | null => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
};

function formatRow(row: HeatmapData['rows'][number] | undefined, format: NumberFormat): string {
  if (!row) return '';
  if (row.group) return row.isOthers ? 'Other' : formatGroup(row.group);
  return `${formatValue(row.from, format)} to ${formatValue(row.to, format)}`;
}

/** The value at a part of the height, from the bottom: rows are adjacent ranges. */
function findBound(rows: HeatmapData['rows'], part: number): number | undefined {
  const index = Math.round(part * rows.length);
  return rows[index]?.from ?? rows.at(-1)?.to;
}
