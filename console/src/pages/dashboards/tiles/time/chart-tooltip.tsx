import type { SeriesStyle } from '../../../../parts/costs/colors.ts';
import { formatDateTime } from '../../../../parts/format/times.ts';
import { formatValue, type NumberFormat } from '../../number-format.ts';
import { Swatch } from '../swatch.tsx';
import classes from './time-chart.module.css';

interface Props {
  /** Epoch milliseconds. */
  at: number;
  zone: string;
  /** Pointer position in the chart, in pixels. */
  left: number;
  top: number;
  /** Width of the chart. */
  width: number;
  rows: { label: string; style: SeriesStyle; value: number | null; previous?: number | null }[];
  format: NumberFormat;
  /** Of a stack that is compared with the previous period. */
  total?: { value: number | null; previous: number | null } | undefined;
  /** If the bucket is incomplete. */
  note?: string | undefined;
}

const MAX_ROWS = 10;

export function ChartTooltip({ at, zone, left, top, width, rows, total, format, note }: Props) {
  const present = rows.flatMap(({ value, ...row }) => (value === null ? [] : [{ ...row, value }]));
  const shown = present.toSorted((one, other) => other.value - one.value).slice(0, MAX_ROWS);
  const isRight = left > width / 2;
  return (
    <div
      className={`ph-tip ${classes.tip}`}
      style={{ ...(isRight ? { right: width - left + 14 } : { left: left + 14 }), top: Math.max(top - 20, 0) }}
      data-testid="chart-tooltip"
    >
      <div className={classes.tipTime}>
        {formatDateTime(at, zone)}
        {zone === 'UTC' && ' UTC'}
      </div>
      {note && <div className={classes.tipNote}>{note}</div>}
      {shown.length === 0 && <div>No data</div>}
      {shown.map(({ label, style, value, previous }) => (
        <div key={label} className={classes.tipRow}>
          <Swatch {...style} />
          <span className={classes.entryText}>{label}</span>
          <b className="ph-number">{formatValue(value, format)}</b>
          {previous !== undefined && (
            <span className={classes.tipPrevious}>before {formatValue(previous, format)}</span>
          )}
        </div>
      ))}
      {present.length > shown.length && <div>and {present.length - shown.length} more</div>}
      {total && (
        <div className={classes.tipRow}>
          <span className={classes.entryText}>Total</span>
          <b className="ph-number">{formatValue(total.value, format)}</b>
          <span className={classes.tipPrevious}>before {formatValue(total.previous, format)}</span>
        </div>
      )}
    </div>
  );
}
