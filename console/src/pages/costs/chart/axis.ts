export const MARGIN = { top: 18, right: 12, bottom: 28, left: 64 };

const STEPS = [1, 2, 2.5, 5, 10];
const TICK_COUNT = 4;

/** A round distance between ticks, in micro-credits. */
function computeTickStep(highest: number): number {
  const rough = highest / TICK_COUNT;
  const power = 10 ** Math.floor(Math.log10(rough));
  return (STEPS.find((step) => step * power >= rough) ?? 10) * power;
}

/** The top of the axis: the first tick at or above the highest value. */
export const roundUpToTick = (highest: number): number => {
  const distance = computeTickStep(highest);
  return Math.ceil(highest / distance) * distance;
};

export function listTicks(top: number): number[] {
  const distance = computeTickStep(top);
  return Array.from({ length: Math.round(top / distance) + 1 }, (_, index) => index * distance);
}
