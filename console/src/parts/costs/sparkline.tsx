import classes from './sparkline.module.css';

interface Props {
  values: readonly number[];
  /** Accessible name. */
  label: string;
  width?: number;
  height?: number;
}

/** One small bar per value. Zero values stay visible as gaps. */
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
