import 'uplot/dist/uPlot.min.css';
import { use, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import classes from '../distribution.module.css';
import { CrosshairContext, syncCrosshair } from './crosshair.ts';

interface Props {
  /** Epoch milliseconds. */
  start: number;
  end: number;
}

/** Gives a chart that is not drawn as a plot the crosshair of the others: an empty plot above it, with the same time axis. */
export function CrosshairLine({ start, end }: Props) {
  const crosshair = use(CrosshairContext);
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const seconds = useRef<[number, number]>([0, 0]);
  seconds.current = [start / 1000, end / 1000];

  useEffect(() => {
    if (!element.current || crosshair === undefined) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      const { width = 0, height = 0 } = entry?.contentRect ?? {};
      if (!element.current || width === 0 || height === 0) return;
      if (plot.current) {
        plot.current.setSize({ width, height });
        return;
      }
      const options = createOptions(crosshair, { width, height }, () => seconds.current);
      plot.current = new uPlot(options, [seconds.current], element.current);
    });
    observer.observe(element.current);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [crosshair]);

  useEffect(() => plot.current?.setData([[start / 1000, end / 1000]]), [start, end]);

  return <div ref={element} className={classes.crosshair} />;
}

const createOptions = (
  key: string,
  { width, height }: { width: number; height: number },
  range: () => [number, number],
): uPlot.Options => ({
  width,
  height,
  padding: [0, 0, 0, 0],
  legend: { show: false },
  cursor: { y: false, points: { show: false }, drag: { x: false, y: false }, sync: syncCrosshair(key) },
  scales: { x: { time: true, range } },
  axes: [{ show: false }, { show: false }],
  series: [{}],
});
