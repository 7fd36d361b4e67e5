/** Bytes per unit of a Kubernetes quantity. */
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

const QUANTITY = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([A-Za-z]{0,2})$/;

/** The bytes of a quantity such as `16Gi`, `17179869184` or `1.5e9`; undefined if it is not valid. */
export function parseBytes(quantity: unknown): number | undefined {
  const [, number, unit = ''] = QUANTITY.exec(String(quantity ?? '')) ?? [];
  const factor = UNITS[unit];
  return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}

/** A GB of a service is a GiB of Kubernetes. */
const BYTES_PER_GB = 2 ** 30;

/** Rounded to a thousandth. */
export const toMemoryGb = (bytes: number): number => Math.round((bytes / BYTES_PER_GB) * 1000) / 1000;

export const isSameMemory = (quantity: unknown, memoryGb: number): boolean =>
  parseBytes(quantity) === memoryGb * BYTES_PER_GB;

/** `16Gi`; sizes that are not a multiple of a GB are given in MiB. */
export const formatMemory = (memoryGb: number): string =>
  Number.isInteger(memoryGb) ? `${memoryGb}Gi` : `${Math.round(memoryGb * 1024)}Mi`;
