import classes from './sparkline.module.css';

interface Props {
  values: readonly number[];
  /** What it shows, for those who do not see it. */
  label: string;
  width?: number;
  height?: number;
}

/** A small column for each value: a gap stays a gap, and one day alone is still seen. */
export function Sparkline({ values, label, width = 120, height = 28 }: Props) {
  const highest = Math.max(...values, Number.MIN_VALUE);
  const step = width / Math.max(values.length, 1);
  const bar = Math.max(step - 1.5, 1);
  return (
    <svg
      className={classes.sparkline}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={label}
    >
      {values.map((value, index) => {
        const tall = value <= 0 ? 1 : Math.max((value / highest) * height, 2);
        const x = index * step;
        return <rect key={x} x={x} y={height - tall} width={bar} height={tall} rx={1} data-empty={value <= 0} />;
      })}
    </svg>
  );
}
