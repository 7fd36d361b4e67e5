import { Button, Code, Group } from '@mantine/core';
import { plural } from '../../parts/format/format.ts';
import { formatDateTime } from '../../parts/format/times.ts';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { PRESETS } from '../dashboards/search.ts';
import { DEFAULT_PRESET, PRESET_LABELS } from '../dashboards/time-window/range.ts';
import type { SearchState } from './use-search-state.ts';

/** Says what was searched, and offers a wider range. */
export function EmptyResult({ state: { search, source, filters, window, change } }: { state: SearchState }) {
  const { where, from, last = DEFAULT_PRESET } = search;
  const wider = from === undefined ? PRESETS[PRESETS.indexOf(last) + 1] : undefined;
  const length = window.end - window.start;
  return (
    <EmptyState
      title="No rows found"
      action={
        <Group gap="xs" justify="center">
          {wider && (
            <Button variant="default" onClick={() => change({ last: wider })}>
              Search the last {PRESET_LABELS[wider]}
            </Button>
          )}
          {from !== undefined && (
            <Button
              variant="default"
              onClick={() => change({ from: Math.max(1, window.start - 2 * length), to: window.end + 2 * length })}
            >
              Search five times this range
            </Button>
          )}
          {(where !== undefined || filters.length > 0) && (
            <Button variant="default" onClick={() => change({ where: undefined, filters: undefined })}>
              Remove query and filters
            </Button>
          )}
        </Group>
      }
    >
      Searched all of {source.name} from {formatDateTime(window.start, window.zone)} to{' '}
      {formatDateTime(window.end, window.zone)}
      {where !== undefined && (
        <>
          {' '}
          for <Code>{where}</Code>
        </>
      )}
      {filters.length > 0 && ` with ${plural(filters.length, 'filter')}`}.
    </EmptyState>
  );
}
