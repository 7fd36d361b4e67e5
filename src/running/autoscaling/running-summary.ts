import {
  HISTORY_MINUTES,
  type LoadSample,
  type LoadSummary,
  measure,
  type Peaks,
  toMinute,
  WINDOW_MINUTES,
  type WindowName,
} from './load.ts';

/**
 * As `summarizeLoad`, for samples that arrive one after another: each is added once, and a summary costs a few lookups
 * instead of a pass over 1,800 samples. Samples must be in the order of their time; others are ignored.
 */
export function createRunningSummary() {
  const cpuCores = createPeakList();
  const memoryGb = createPeakList();
  const queries = createPeakList();
  const covered = createCoverage();
  const measuredMinutes = createCoverage();
  let lastMinute = Number.NEGATIVE_INFINITY;
  let outOfMemoryMinute = Number.NEGATIVE_INFINITY;

  function getPeaks(name: WindowName, current: number): Peaks {
    const after = current - WINDOW_MINUTES[name];
    return {
      cpuCores: cpuCores.findPeak(after),
      memoryGb: memoryGb.findPeak(after),
      queries: queries.findPeak(after),
      coveredMinutes: covered.count(after, current),
      measuredMinutes: measuredMinutes.count(after, current),
    };
  }

  return {
    /** The minute of the last sample; -Infinity without samples. */
    getLastMinute: (): number => lastMinute,

    add(sample: LoadSample): void {
      const minute = toMinute(sample.at);
      if (minute <= lastMinute) return;
      lastMinute = minute;
      const measured = measure(sample);
      const oldest = minute - HISTORY_MINUTES;
      cpuCores.add(minute, measured.cpuCores, oldest);
      memoryGb.add(minute, measured.memoryGb, oldest);
      queries.add(minute, measured.queries, oldest);
      if (measured.isCovered) covered.add(minute, oldest);
      if (measured.isMeasured) measuredMinutes.add(minute, oldest);
      if ((sample.outOfMemory ?? 0) > 0) outOfMemoryMinute = minute;
    },

    /** `now` must not be before the last sample. */
    summarize(now: number): LoadSummary {
      const current = toMinute(now);
      return {
        tenMinutes: getPeaks('tenMinutes', current),
        hour: getPeaks('hour', current),
        threeHours: getPeaks('threeHours', current),
        thirtyHours: getPeaks('thirtyHours', current),
        outOfMemoryMinute: outOfMemoryMinute > current - HISTORY_MINUTES ? outOfMemoryMinute : undefined,
      };
    },
  };
}

interface Peak {
  minute: number;
  value: number;
}

/**
 * Keeps the values that no later value reaches, so they decrease: the peak since a time is the first value after it.
 */
function createPeakList() {
  let peaks: Peak[] = [];
  return {
    add(minute: number, value: number | undefined, oldest: number): void {
      const first = peaks[0];
      if (first && first.minute <= oldest) peaks = peaks.filter((peak) => peak.minute > oldest);
      if (value === undefined) return;
      while (peaks.length > 0 && (peaks[peaks.length - 1] as Peak).value <= value) peaks.pop();
      peaks.push({ minute, value });
    },
    findPeak: (after: number): number | undefined => peaks.find(({ minute }) => minute > after)?.value,
  };
}

/** Minutes with data, as periods without a gap: usually one. */
function createCoverage() {
  let periods: { first: number; last: number }[] = [];
  return {
    add(minute: number, oldest: number): void {
      const period = periods.at(-1);
      if (period?.last === minute - 1) period.last = minute;
      else periods.push({ first: minute, last: minute });
      if ((periods[0]?.last ?? minute) <= oldest) periods = periods.filter(({ last }) => last > oldest);
    },
    /** Minutes with `after < minute <= through`. */
    count: (after: number, through: number): number =>
      periods.reduce(
        (sum, { first, last }) => sum + Math.max(0, Math.min(last, through) - Math.max(first, after + 1) + 1),
        0,
      ),
  };
}
