import { formatBillDay, formatExactCredits } from '../../parts/format.ts';
import { toCredits } from './breakdown.ts';
import classes from './cost-chart.module.css';

interface Props {
  day: string;
  isOpen: boolean;
  rows: { id: string; label: string; micros: number; color: string }[];
  /** The center of the day and the width of the chart, in pixels. */
  left: number;
  width: number;
}

const MAX_ROWS = 12;

export function CostTooltip({ day, isOpen, rows, left, width }: Props) {
  const present = rows.filter(({ micros }) => micros !== 0);
  const total = rows.reduce((sum, { micros }) => sum + micros, 0);
  return (
    <div
      className={classes.tip}
      style={left > width / 2 ? { right: width - left + 16 } : { left: left + 16 }}
      data-testid="cost-tooltip"
    >
      <div className={classes.tipHead}>
        {formatBillDay(day)} · {isOpen ? 'Not final' : 'Locked'}
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
    </div>
  );
}
