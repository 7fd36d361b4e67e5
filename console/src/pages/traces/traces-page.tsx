import { Button, SegmentedControl } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { formatDateTime } from '../../parts/format/times.ts';
import { Page } from '../../parts/layout/page.tsx';
import { useTimeWindow } from '../dashboards/time-window/use-time-window.ts';
import { formatNs } from './durations.ts';
import { ConditionForm, DurationField, RangeActions } from './filter-bar.tsx';
import { LatencyHeatmap } from './latency-heatmap.tsx';
import { OperationsPanel } from './operations-panel.tsx';
import type { TracesSearch } from './search.ts';
import { TraceList } from './trace-list.tsx';
import classes from './traces.module.css';

const route = getRouteApi('/signed-in/traces');

/** Traces of a time range: how long their spans take, the newest or slowest ones, and where time is spent. */
export function TracesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { window, reload } = useTimeWindow(search);
  const update = (next: TracesSearch) => void navigate({ search: next, resetScroll: false });
  const { view: _view, ...withoutView } = search;
  const { order: _order, ...withoutOrder } = search;
  const { partStart, partEnd, min, max, ...withoutSelection } = search;
  const { min: _min, ...withoutMin } = search;
  const { max: _max, ...withoutMax } = search;
  const hasSelection = partStart !== undefined || min !== undefined || max !== undefined;
  return (
    <Page
      title="Traces"
      subtitle="Requests through your services, span by span"
      actions={<RangeActions search={search} window={window} onChange={update} onReload={reload} />}
    >
      <ConditionForm key={`${search.where} ${search.lang}`} search={search} onChange={update}>
        <DurationField
          key={`min ${min}`}
          label="Min duration"
          value={min}
          onChange={(ns) => update(ns === undefined ? withoutMin : { ...search, min: ns })}
        />
        <DurationField
          key={`max ${max}`}
          label="Max duration"
          value={max}
          onChange={(ns) => update(ns === undefined ? withoutMax : { ...search, max: ns })}
        />
      </ConditionForm>
      <LatencyHeatmap search={search} window={window} onSelect={(part) => update({ ...withoutSelection, ...part })} />
      <div className={classes.tools}>
        <SegmentedControl
          aria-label="Show"
          data={[
            { value: 'traces', label: 'Traces' },
            { value: 'operations', label: 'Operations by self time' },
          ]}
          value={search.view ?? 'traces'}
          onChange={(value) => update(value === 'operations' ? { ...withoutView, view: 'operations' } : withoutView)}
        />
        {search.view !== 'operations' && (
          <>
            <SegmentedControl
              aria-label="Order"
              data={[
                { value: 'newest', label: 'Newest' },
                { value: 'slowest', label: 'Slowest' },
              ]}
              value={search.order ?? 'newest'}
              onChange={(value) => update(value === 'slowest' ? { ...withoutOrder, order: 'slowest' } : withoutOrder)}
            />
            {hasSelection && (
              <Button
                variant="light"
                rightSection="✕"
                aria-label="Remove the selected time and duration"
                onClick={() => update(withoutSelection)}
              >
                {formatSelection(search, window.zone)}
              </Button>
            )}
          </>
        )}
      </div>
      {search.view === 'operations' ? (
        <OperationsPanel search={search} window={window} onChoose={update} />
      ) : (
        <TraceList search={search} window={window} onChange={update} />
      )}
    </Page>
  );
}

function formatSelection({ partStart, partEnd, min, max }: TracesSearch, zone: string): string {
  const time =
    partStart !== undefined && partEnd !== undefined
      ? `${formatDateTime(partStart, zone)} – ${formatDateTime(partEnd, zone)}`
      : '';
  const duration =
    max === undefined
      ? min === undefined
        ? ''
        : `at least ${formatNs(min)}`
      : min === undefined || min === 0
        ? `at most ${formatNs(max)}`
        : `${formatNs(min)} to ${formatNs(max)}`;
  return [time, duration].filter((part) => part !== '').join(', ');
}
