/** Units in nanoseconds, the largest first. */
const UNITS: [name: string, ns: number][] = [
  ['s', 1e9],
  ['ms', 1e6],
  ['µs', 1e3],
  ['ns', 1],
];
const MINUTE_NS = 60e9;
const HOUR_NS = 60 * MINUTE_NS;

const findUnit = (ns: number): [string, number] => UNITS.find(([, size]) => Math.abs(ns) >= size) ?? ['ns', 1];

/** With three digits, such as `1.23 ms`. */
export function formatNs(ns: number): string {
  const size = Math.abs(ns);
  if (size >= HOUR_NS) return `${Math.trunc(ns / HOUR_NS)} h ${Math.floor((size % HOUR_NS) / MINUTE_NS)} min`;
  if (size >= MINUTE_NS) return `${Math.trunc(ns / MINUTE_NS)} min ${Math.floor((size % MINUTE_NS) / 1e9)} s`;
  const [name, unit] = findUnit(ns);
  const amount = ns / unit;
  const decimals = unit === 1 ? 0 : Math.abs(amount) >= 100 ? 0 : Math.abs(amount) >= 10 ? 1 : 2;
  return `${Number(amount.toFixed(decimals))} ${name}`;
}

/** With every digit, such as `1.234567 ms`. */
export function formatExactNs(ns: number): string {
  const whole = Math.round(Math.abs(ns));
  const [name, unit] = findUnit(whole);
  const decimals = String(whole % unit).padStart(String(unit).length - 1, '0');
  const fraction = unit === 1 ? '' : decimals.replace(/0+$/, '');
  const amount = `${ns < 0 ? '-' : ''}${Math.floor(whole / unit)}${fraction === '' ? '' : `.${fraction}`}`;
  return `${amount} ${name}`;
}

/** Nanoseconds of a text such as `250ms`, `1.5 s` or `90 µs`; undefined if it is no duration. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|min|m|h)$/i.exec(text.trim()) ?? [];
  const size = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, m: MINUTE_NS, min: MINUTE_NS, h: HOUR_NS }[
    unit.toLowerCase()
  ];
  const ns = amount === undefined || size === undefined ? Number.NaN : Math.round(Number(amount) * size);
  return Number.isSafeInteger(ns) ? ns : undefined;
}
