import { formatBillDate, formatExactCredits } from '../../../parts/format/format.ts';
import { toCredits } from '../breakdown.ts';
import classes from './cost-chart.module.css';
import type { ScalingMark } from './scaling-marks.ts';

interface Props {
  day: string;
  isOpen: boolean;
  rows: { id: string; label: string; micros: number; color: string }[];
  /** The scaling changes of the day. */
  marks: readonly ScalingMark[];
  /** The center of the day and the width of the chart, in pixels. */
  left: number;
  width: number;
}

const MAX_ROWS = 12;
const MAX_MARKS = 5;

export function CostTooltip({ day, isOpen, rows, marks, left, width }: Props) {
  const present = rows.filter(({ micros }) => micros !== 0);
  const total = rows.reduce((sum, { micros }) => sum + micros, 0);
  return (
    <div
      className={`ph-tip ${classes.tip}`}
      style={left > width / 2 ? { right: width - left + 16 } : { left: left + 16 }}
      data-testid="cost-tooltip"
    >
      <div className={classes.tipHead}>
        {formatBillDate(day)} · {isOpen ? 'Not final' : 'Locked'}
      </div>
      {present.slice(0, MAX_ROWS).map(({ id, label, micros, color }) => (
        <div key={id} className={classes.tipRow}>
          <span className={classes.swatch} style={{ background: color }} />
          <span className={classes.tipLabel}>{label}</span>
          <span className="ph-number">{formatExactCredits(toCredits(micros))}</span>
        </div>
      ))}
      {present.length > MAX_ROWS && <div>and {present.length - MAX_ROWS} more</div>}
      <div className={classes.tipSum}>
        <span>Total</span>
        <b className="ph-number">{formatExactCredits(toCredits(total))} CHC</b>
      </div>
      {marks.length > 0 && (
        <ul className={classes.tipMarks} aria-label="Scaling changes">
          {marks.slice(0, MAX_MARKS).map(({ id, text }) => (
            <li key={id}>{text}</li>
          ))}
          {marks.length > MAX_MARKS && <li>and {marks.length - MAX_MARKS} more scaling changes</li>}
        </ul>
      )}
    </div>
  );
}
