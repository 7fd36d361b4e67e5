import { SERVICES, type ServiceName } from './services.ts';

/** Requests of a service with log-normal latencies. */
interface Portion {
  count: number;
  medianSeconds: number;
  spread: number;
}

/** How many times slower the payments database is at the peak of the incident. */
const SLOWDOWN = 25;
/** The share of a service's requests that wait for payments. */
const WAITING_SHARE: Record<ServiceName, number> = { gateway: 0.2, search: 0, checkout: 1, payments: 1, ingest: 0 };

/** Splits requests into those that the incident slows down and the others. */
export function portions(service: ServiceName, count: number, severity: number): Portion[] {
  const { medianSeconds, spread } = SERVICES[service];
  const slowCount = severity === 0 ? 0 : Math.round(count * WAITING_SHARE[service]);
  const slow = { count: slowCount, medianSeconds: medianSeconds * (1 + SLOWDOWN * severity), spread: spread + 0.2 };
  return [{ count: count - slowCount, medianSeconds, spread }, slow].filter((portion) => portion.count > 0);
}

/** The share of failing requests. */
export const errorShare = (service: ServiceName, severity: number): number =>
  SERVICES[service].errors + 0.3 * severity * WAITING_SHARE[service];

/**
 * Distributes a portion over histogram buckets, in whole numbers that add up to its count. The shares are cached:
 * severities repeat every day, so there are a few dozen.
 */
export function createSpread(bounds: readonly number[]): (portion: Portion) => number[] {
  const cache = new Map<string, number[]>();
  function sharesBelow(median: number, spread: number): number[] {
    const key = `${median} ${spread}`;
    const shares = cache.get(key) ?? bounds.map((bound) => shareBelow(bound, median, spread));
    cache.set(key, shares);
    return shares;
  }
  return ({ count, medianSeconds, spread }) => {
    let below = 0;
    const counts = sharesBelow(medianSeconds, spread).map((share) => {
      const upTo = Math.round(count * share);
      const inside = upTo - below;
      below = upTo;
      return inside;
    });
    counts.push(count - below);
    return counts;
  };
}

export const expectedSum = ({ count, medianSeconds, spread }: Portion): number =>
  count * medianSeconds * Math.exp(spread ** 2 / 2);

/** The cumulative log-normal distribution, approximated by a logistic curve to within one percent. */
const shareBelow = (seconds: number, median: number, spread: number): number =>
  1 / (1 + Math.exp((-1.702 * Math.log(seconds / median)) / spread));
