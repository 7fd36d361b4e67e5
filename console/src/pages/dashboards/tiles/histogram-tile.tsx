import { formatValue, resolveNumberFormat, withUnit } from '../number-format.ts';
import type { Tile, TileDataByType } from '../queries.ts';
import classes from './distribution.module.css';
import { EmptyTile } from './empty-tile.tsx';
import tileClasses from './tiles.module.css';

/** How often the values of a field are in each range. */
export function HistogramTile({ tile, data }: { tile: Tile; data: TileDataByType<'histogram'> }) {
  const { bins, count, scale, unit } = data;
  if (bins.length === 0) return <EmptyTile />;
  const format = withUnit(resolveNumberFormat(tile.series), unit);
  const highest = Math.max(...bins.map((bin) => bin.count));
  const formatBound = (value: number | undefined) => formatValue(value, format);
  const first = bins[0]?.from;
  const last = bins.at(-1)?.to;
  const ticks = [0, 0.25, 0.5, 0.75].map((part) => bins[Math.floor(part * bins.length)]?.from);
  return (
    <div className={tileClasses.column}>
      <div
        className={classes.frame}
        role="img"
        aria-label={`${tile.name || 'Histogram'}: ${formatValue(count)} values of ${data.name} from ${formatBound(first)} to ${formatBound(last)}, most often ${describeMode(bins, formatBound)}`}
        data-testid="histogram"
      >
        <div className={classes.scale}>
          <span>{formatValue(highest)}</span>
          <span>{formatValue(highest / 2)}</span>
          <span>0</span>
        </div>
        <div className={classes.columns}>
          {bins.map((bin) => (
            <div
              key={bin.from}
              className={classes.slot}
              title={`${formatBound(bin.from)} to ${formatBound(bin.to)}: ${formatValue(bin.count)}`}
            >
              <div
                className={classes.bar}
                style={{ height: `${(100 * bin.count) / highest}%` }}
                data-empty={bin.count === 0}
              />
            </div>
          ))}
        </div>
        <div className={classes.axis}>
          {[...new Set([...ticks, last])].map((value) => (
            <span key={value}>{formatBound(value)}</span>
          ))}
        </div>
      </div>
      <div className={tileClasses.foot}>
        {formatValue(count)} values{scale === 'log' && ', logarithmic ranges'}
      </div>
    </div>
  );
}

type Bin = TileDataByType<'histogram'>['bins'][number];

function describeMode(bins: readonly Bin[], format: (value: number) => string): string {
  const mode = bins.reduce((best, bin) => (bin.count > best.count ? bin : best));
  return `${format(mode.from)} to ${format(mode.to)}`;
}
