import { useMemo } from 'react';
import { formatShortDateTime } from '../../../../parts/format/times.ts';
import { alignPrevious, hasNoRows, type Previous, sumUnmatched } from '../../compare/previous.ts';
import { resolveNumberFormat, withUnit } from '../../number-format.ts';
import type { Tile, TileDataByType } from '../../queries.ts';
import { EmptyTile } from '../empty-tile.tsx';
import classes from '../tiles.module.css';
import { ExemplarMarks } from './exemplar-marks.tsx';
import { usePointMenu } from './point-menu.tsx';
import { TimeChart } from './time-chart.tsx';
import { findCommonUnit, toLines } from './time-series.ts';

interface Props {
  tile: Tile;
  data: TileDataByType<'time'>;
  zone: string;
  onZoom?: ((start: number, end: number) => void) | undefined;
  previous?: Previous | undefined;
}

export function TimeTile({ tile, data, zone, onZoom, previous }: Props) {
  const fillNulls = tile.config?.fillNulls;
  const drawing = tile.series[0]?.displayType ?? 'line';
  const isStacked = drawing !== 'line';
  const shift = previous?.shift ?? 0;
  const before = previous?.data?.type === 'time' ? previous.data : undefined;
  const past = useMemo(() => before && alignPrevious(data, before, shift), [data, before, shift]);
  const unmatched = useMemo(
    () => (before && isStacked ? sumUnmatched(data, before, shift) : []),
    [data, before, shift, isStacked],
  );
  const hasPast = past !== undefined && !hasNoRows(tile, [...past.flat(), ...unmatched]);
  const lines = useMemo(() => {
    const all = toLines(data, fillNulls);
    return hasPast ? all.map((line, index) => ({ ...line, previous: past?.[index] ?? [] })) : all;
  }, [data, fillNulls, past, hasPast]);
  const { menu, onPick } = usePointMenu({ tile, data, lines, zone });
  const { shown, total } = data.groups;
  const isEmpty = data.series.every(({ values }) => values.every((value) => value === null));
  if (isEmpty) return <EmptyTile />;
  const format = withUnit(resolveNumberFormat(tile.series), findCommonUnit(data));
  return (
    <div className={classes.column}>
      <div className={classes.fill}>
        <TimeChart
          label={`${tile.name || 'Chart'}: ${lines.length} series, interval ${data.granularity}${data.partialBuckets ? ', some intervals incomplete' : ''}`}
          lines={lines}
          unmatchedPrevious={unmatched}
          buckets={data.buckets}
          start={data.start}
          end={data.end}
          zone={zone}
          drawing={drawing}
          format={format}
          partialBuckets={data.partialBuckets}
          onZoom={onZoom}
          onPick={onPick}
          menu={menu}
          overlay={(area) => (
            <ExemplarMarks
              series={tile.series}
              area={area}
              start={data.start}
              end={data.end}
              zone={zone}
              format={format}
            />
          )}
        />
      </div>
      {previous && (past || previous.error !== undefined) && (
        <div className={classes.foot} data-testid="previous-period">
          {formatPrevious(previous, hasPast, data, zone, isStacked)}
        </div>
      )}
      {total > shown && (
        <div className={classes.foot}>
          Top {shown} of {total} groups
        </div>
      )}
    </div>
  );
}

function formatPrevious(
  { error, shift, data: past }: Previous,
  hasPast: boolean,
  { start, end }: TileDataByType<'time'>,
  zone: string,
  isStacked: boolean,
): string {
  if (error !== undefined) return `Could not load the previous period: ${error}`;
  if (!hasPast) return 'No data in the previous period';
  const groups = past?.type === 'time' ? past.groups : undefined;
  // A group may be missing because others were larger, not because it has no data.
  const note = groups && groups.total > groups.shown ? `, its top ${groups.shown} of ${groups.total} groups` : '';
  return `Dashed: ${isStacked ? 'total of the ' : ''}previous period, ${formatShortDateTime(start - shift, zone)} – ${formatShortDateTime(end - shift, zone)}${note}`;
}
