import type { Metric, Registry } from 'prom-client';

interface Series {
  labels: Record<string, string>;
  /** Observations per bucket, not cumulative; the last is for values above all bounds. */
  counts: number[];
  sum: number;
  total: number;
}

/**
 * A Prometheus histogram that counts in plain arrays and formats the values when they are read. prom-client's histogram
 * hashes the labels at every observation, which is measurable at tens of thousands of requests per second.
 */
export function createHistogram(registry: Registry, name: string, help: string, buckets: readonly number[]) {
  const seriesById = new Map<string, Series>();

  function getSeries(id: string, labels: () => Record<string, string>): Series {
    let series = seriesById.get(id);
    if (!series) {
      series = { labels: labels(), counts: new Array(buckets.length + 1).fill(0), sum: 0, total: 0 };
      seriesById.set(id, series);
    }
    return series;
  }

  function values() {
    return [...seriesById.values()].flatMap(({ labels, counts, sum, total }) => {
      let cumulative = 0;
      const inBuckets = [...buckets, '+Inf'].map((le, index) => {
        cumulative += counts[index] ?? 0;
        return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: cumulative };
      });
      return [
        ...inBuckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: total },
      ];
    });
  }

  register(registry, name, help, 'histogram', values);

  return {
    /** `labels` is called once per `id`. */
    observe(id: string, value: number, labels: () => Record<string, string> = () => ({})): void {
      const series = getSeries(id, labels);
      let bucket = 0;
      while (bucket < buckets.length && value > (buckets[bucket] ?? 0)) bucket++;
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
      series.sum += value;
      series.total++;
    },
    /** Exports a histogram without labels before its first observation: a rate needs a first value. */
    exportEmpty: (): void => void getSeries('', () => ({})),
    /** Also exports the number of observations as a counter. */
    countAs(counter: string, text: string): void {
      register(registry, counter, text, 'counter', () =>
        [...seriesById.values()].map(({ labels, total }) => ({ labels, value: total })),
      );
    },
  };
}

function register(registry: Registry, name: string, help: string, type: string, values: () => object[]): void {
  const metric = {
    name,
    help,
    type,
    get: async () => ({ name, help, type, aggregator: 'sum', values: values() }),
    reset() {},
  };
  registry.registerMetric(metric as unknown as Metric);
}
