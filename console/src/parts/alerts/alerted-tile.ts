const ALERTED_TYPES = ['time', 'bar', 'number'];

/** Whether an alert can watch the tile: lines, bars and numbers. */
export const isAlerted = ({ series }: { series: readonly { type: string }[] }): boolean =>
  ALERTED_TYPES.includes(series[0]?.type ?? '');
