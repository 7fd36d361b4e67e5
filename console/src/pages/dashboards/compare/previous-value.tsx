import { formatPercent } from '../../../parts/format/format.ts';
import { formatValue, type NumberFormat } from '../number-format.ts';
import type { Tile, TileDataByType } from '../queries.ts';
import classes from '../tiles/tiles.module.css';
import { hasNoRows, type Previous } from './previous.ts';

interface Props {
  tile: Tile;
  data: TileDataByType<'number'>;
  previous: Previous;
  format: NumberFormat;
}

/** The change since the previous period, of the first series. */
export function PreviousValue({ tile, data, previous, format }: Props) {
  const text = formatChange({ tile, data, previous, format });
  return (
    <p className={classes.quiet} data-testid="previous-value">
      {text}
    </p>
  );
}

function formatChange({ tile, data, previous, format }: Props): string {
  if (previous.error !== undefined) return `Could not load the previous period: ${previous.error}`;
  const value = previous.data?.type === 'number' ? (previous.data.series[0]?.value ?? null) : null;
  if (value === null || hasNoRows(tile, [value])) return 'No data in the previous period';
  const [now, before] = [Number(data.series[0]?.value ?? Number.NaN), Number(value)];
  const was = `previous period: ${formatValue(value, format)}`;
  if (!Number.isFinite(now) || !Number.isFinite(before)) return capitalize(was);
  if (now === before) return `No change, ${was}`;
  const change = `${now > before ? '+' : '−'}${formatValue(Math.abs(now - before), format)}`;
  const share =
    before === 0 ? '' : ` (${now > before ? '+' : '−'}${formatPercent(Math.abs((now - before) / before) * 100)})`;
  return `${change}${share}, ${was}`;
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
