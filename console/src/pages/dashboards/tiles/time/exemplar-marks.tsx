import { Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { use } from 'react';
import { useApi, useSession } from '../../../../app/context.tsx';
import { formatDateTime } from '../../../../parts/format/times.ts';
import { useDrillDown } from '../../drill-down/drill-down-context.tsx';
import { TileFiltersContext } from '../../filters/tile-filters-context.ts';
import { formatValue, type NumberFormat } from '../../number-format.ts';
import type { Series } from '../../queries.ts';
import classes from './exemplar-marks.module.css';
import { type Exemplar, exemplarsQuery } from './exemplar-queries.ts';

/** Of the plot without its axes, in pixels. */
export interface PlotArea {
  left: number;
  width: number;
  top: number;
  height: number;
  /** The values at the bottom and the top. */
  min: number;
  max: number;
}

interface Props {
  series: readonly Series[];
  area: PlotArea;
  /** Epoch milliseconds. */
  start: number;
  end: number;
  zone: string;
  format: NumberFormat;
}

/** Marks that are closer are one. */
const MIN_DISTANCE_PX = 10;

/** Measurements of the metrics of a tile, each of which leads to its trace. Values beyond the axis are at its end. */
export function ExemplarMarks(props: Props) {
  return useDrillDown() === undefined ? null : <Marks {...props} />;
}

function Marks({ series, area, start, end, zone, format }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const conditions = use(TileFiltersContext);
  const { data = [] } = useQuery(exemplarsQuery(api, organizationId, series, { start, end }, conditions));
  return thinOut(data, { ...area, start, end }).map(({ left, top, exemplar }) => {
    const { time, value, traceId, spanId, metricName, service } = exemplar;
    const text = `${metricName} ${formatValue(value, format)}${service === '' ? '' : ` of ${service}`}, ${formatDateTime(time, zone)}`;
    return (
      <Tooltip
        key={`${traceId} ${spanId} ${time}`}
        withArrow
        events={{ hover: true, focus: true, touch: true }}
        label={text}
      >
        <Link
          to="/traces/$traceId"
          params={{ traceId: traceId.toLowerCase() }}
          search={spanId === '' ? {} : { span: spanId }}
          className={classes.mark}
          style={{ left, top }}
          data-testid="exemplar"
          aria-label={`Trace of ${text}`}
        />
      </Tooltip>
    );
  });
}

interface Mark {
  left: number;
  top: number;
  exemplar: Exemplar;
}

function thinOut(
  exemplars: readonly Exemplar[],
  { left, width, top, height, min, max, start, end }: PlotArea & { start: number; end: number },
): Mark[] {
  const marks: Mark[] = [];
  for (const exemplar of exemplars) {
    if (exemplar.time < start || exemplar.time >= end) continue;
    const share = max > min ? Math.min(1, Math.max(0, (exemplar.value - min) / (max - min))) : 0;
    const mark = {
      left: left + ((exemplar.time - start) / (end - start)) * width,
      top: top + (1 - share) * height,
      exemplar,
    };
    if (marks.every((other) => Math.hypot(other.left - mark.left, other.top - mark.top) >= MIN_DISTANCE_PX))
      marks.push(mark);
  }
  return marks;
}
