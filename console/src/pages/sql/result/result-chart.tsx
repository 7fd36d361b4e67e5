import { Group, MultiSelect, SegmentedControl, Select } from '@mantine/core';
import { useMemo, useState } from 'react';
import { EmptyState } from '../../../parts/layout/empty-state.tsx';
import { BarTile } from '../../dashboards/tiles/bar-tile.tsx';
import { TimeChart } from '../../dashboards/tiles/time/time-chart.tsx';
import type { Drawing } from '../../dashboards/tiles/time/time-series.ts';
import classes from '../sql.module.css';
import { type ChartColumns, chooseColumns, toBars, toTimeData } from './chart-data.ts';
import type { ResultColumn, ResultRow } from './values.ts';

interface Props {
  columns: readonly ResultColumn[];
  rows: readonly ResultRow[];
}

const NUMBER_FORMAT = {};
const BARS = { name: 'Chart of the result', series: [] };
const DRAWINGS = [
  { value: 'line', label: 'Lines' },
  { value: 'stacked_bar', label: 'Stacked bars' },
];

/** Numbers of a result over time, or by category. */
export function ResultChart({ columns, rows }: Props) {
  const [chosen, setChosen] = useState<ChartColumns>();
  const [drawing, setDrawing] = useState<Drawing>('line');
  const first = useMemo(() => chooseColumns(columns), [columns]);
  const shown = chosen ?? first;
  const isTime = shown !== undefined && columns[shown.x]?.kind === 'time';
  const time = useMemo(
    () => (shown && isTime ? toTimeData(columns, rows, shown) : undefined),
    [columns, rows, shown, isTime],
  );
  if (!shown)
    return (
      <EmptyState title="Nothing to draw">
        A chart needs a column of times or categories, and a column of numbers.
      </EmptyState>
    );
  const options = columns.map(({ name }, index) => ({ value: String(index), label: name }));
  return (
    <div className={classes.chart}>
      <Group gap="sm" align="flex-end">
        <Select
          size="xs"
          label="X axis"
          data={options}
          value={String(shown.x)}
          allowDeselect={false}
          onChange={(x) => setChosen({ values: shown.values.filter((one) => one !== Number(x)), x: Number(x) })}
        />
        <MultiSelect
          size="xs"
          label="Values"
          data={options.filter((_, index) => columns[index]?.kind === 'number')}
          value={shown.values.map(String)}
          onChange={(values) => setChosen({ ...shown, values: values.map(Number) })}
        />
        {isTime && (
          <SegmentedControl
            size="xs"
            aria-label="Chart type"
            data={DRAWINGS}
            value={drawing}
            onChange={(value) => setDrawing(value as Drawing)}
          />
        )}
      </Group>
      <div className={classes.plot}>
        {time ? (
          <TimeChart
            label={`${time.lines.map(({ label }) => label).join(', ')} over ${columns[shown.x]?.name}`}
            lines={time.lines}
            buckets={time.buckets}
            start={time.buckets[0] ?? 0}
            end={(time.buckets.at(-1) ?? 0) + 1}
            zone="UTC"
            drawing={drawing}
            format={NUMBER_FORMAT}
            partialBuckets={undefined}
          />
        ) : (
          <BarTile tile={BARS} data={toBars(columns, rows, shown)} />
        )}
      </div>
    </div>
  );
}
