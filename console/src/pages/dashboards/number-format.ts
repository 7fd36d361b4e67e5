import type { Series, TileDataByType } from './tile-types.ts';

export type Unit = NonNullable<TileDataByType<'number'>['series'][number]['unit']>;

/** Number format of a tile, as stored by the API; every member is optional. */
export interface NumberFormat {
  output?: string | undefined;
  /** Decimals. */
  mantissa?: number | undefined;
  /** The value is multiplied by this first. */
  factor?: number | undefined;
  thousandSeparated?: boolean | undefined;
  /** 1.2k instead of 1,200. */
  average?: boolean | undefined;
  /** Powers of 1000 instead of 1024. */
  decimalBytes?: boolean | undefined;
  currencySymbol?: string | undefined;
  unit?: string | undefined;
}

/** The length of a duration unit in seconds. */
const SECONDS: Partial<Record<Unit, number>> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };

/** Values with a known unit are shown as durations or bytes, unless the tile has a format. */
export function withUnit(format: NumberFormat, unit: Unit | undefined): NumberFormat {
  if (unit === undefined || format.factor !== undefined || format.unit !== undefined) return format;
  const seconds = SECONDS[unit];
  if (seconds === undefined) return format.output === undefined ? { ...format, output: 'byte' } : format;
  const isDuration = format.output === undefined || format.output === 'time' || format.output === 'duration';
  return isDuration ? { ...format, output: 'duration', factor: seconds } : format;
}

/** The first format found applies to the whole tile. */
export function resolveNumberFormat(series: readonly Series[]): NumberFormat {
  const found = series.find(({ numberFormat }) => numberFormat !== undefined)?.numberFormat ?? {};
  const { output, mantissa, factor, thousandSeparated, average, decimalBytes, currencySymbol, unit } = found;
  return {
    output: text(output),
    mantissa: number(mantissa),
    factor: number(factor),
    thousandSeparated: flag(thousandSeparated),
    average: flag(average),
    decimalBytes: flag(decimalBytes),
    currencySymbol: text(currencySymbol),
    unit: text(unit),
  };
}

const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);
const flag = (value: unknown) => (typeof value === 'boolean' ? value : undefined);

/** Intl accepts at most 20. */
const MAX_DECIMALS = 12;

export function formatValue(value: number | string | null | undefined, format: NumberFormat = {}): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'string') return value;
  const amount = value * (format.factor ?? 1);
  const unit = format.unit ? ` ${format.unit}` : '';
  switch (format.output) {
    case 'percent':
      return `${plain(amount * 100, format, 2)}%`;
    case 'byte':
      return scaled(amount, format, format.decimalBytes ? DECIMAL_BYTES : BYTES);
    case 'data_rate':
      return `${scaled(amount, format, DECIMAL_BYTES)}/s`;
    case 'time':
    case 'duration':
      return duration(amount, format);
    case 'currency':
      return `${format.currencySymbol ?? '$'}${plain(amount, { ...format, mantissa: format.mantissa ?? 2 }, 2)}`;
    default:
      return `${plain(amount, format, significant(amount))}${unit}`;
  }
}

/** Decimals that keep about three significant digits. */
const significant = (amount: number): number => {
  const size = Math.abs(amount);
  return Number.isInteger(amount)
    ? 0
    : size >= 1000
      ? 0
      : size >= 1
        ? 2
        : Math.min(MAX_DECIMALS, 2 - Math.floor(Math.log10(size || 1)));
};

function plain(amount: number, { mantissa, average, thousandSeparated }: NumberFormat, decimals: number): string {
  const most = Math.min(MAX_DECIMALS, Math.max(0, Math.trunc(mantissa ?? decimals)));
  return numberFormatter({
    minimumFractionDigits: mantissa === undefined ? 0 : most,
    maximumFractionDigits: most,
    useGrouping: thousandSeparated ?? true,
    ...(average ? { notation: 'compact' } : {}),
  }).format(amount);
}

/** Cached: creating a formatter is expensive, and there are few different ones. */
const formatters = new Map<string, Intl.NumberFormat>();

function numberFormatter(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const id = JSON.stringify(options);
  const found = formatters.get(id) ?? new Intl.NumberFormat(undefined, options);
  formatters.set(id, found);
  return found;
}

interface Units {
  step: number;
  names: readonly string[];
}
const BYTES: Units = { step: 1024, names: ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] };
const DECIMAL_BYTES: Units = { step: 1000, names: ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] };

function scaled(amount: number, format: NumberFormat, { step, names }: Units): string {
  let [left, index] = [amount, 0];
  while (Math.abs(left) >= step && index < names.length - 1) [left, index] = [left / step, index + 1];
  return `${plain(left, format, index === 0 ? 0 : 1)} ${names[index]}`;
}

/** `seconds` as ns, µs, ms, s, min or h. */
function duration(seconds: number, format: NumberFormat): string {
  const size = Math.abs(seconds);
  if (size === 0) return '0 s';
  if (size < 1e-6) return `${plain(seconds * 1e9, format, 0)} ns`;
  if (size < 0.001) return `${plain(seconds * 1e6, format, size < 1e-5 ? 1 : 0)} µs`;
  if (size < 1) return `${plain(seconds * 1000, format, size < 0.01 ? 2 : size < 0.1 ? 1 : 0)} ms`;
  if (size < 60) return `${plain(seconds, format, 2)} s`;
  if (size < 3600) return `${Math.trunc(seconds / 60)} min ${Math.floor(size % 60)} s`;
  return `${plain(Math.trunc(seconds / 3600), {}, 0)} h ${Math.floor((size % 3600) / 60)} min`;
}
