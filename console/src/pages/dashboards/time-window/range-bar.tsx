import { ActionIcon, Select, Tooltip } from '@mantine/core';
import classes from '../dashboard.module.css';
import { ReloadIcon } from '../icons.tsx';
import type { TimeWindow } from '../queries.ts';
import type { DashboardSearch, Refresh } from '../search.ts';
import { RangePicker } from './range-picker.tsx';

interface Props {
  search: DashboardSearch;
  window: TimeWindow;
  onChange: (search: DashboardSearch) => void;
  onReload: () => void;
}

/** Unmounts closed lists: hidden lists would be laid out while the tiles render. */
const UNMOUNT_WHEN_CLOSED = { keepMounted: false };

/** Time range, time zone and auto-refresh. */
export function RangeBar({ search, window, onChange, onReload }: Props) {
  const { last: _last, from: _from, to: _to, ...others } = search;
  const { refresh: _refresh, ...withoutRefresh } = search;
  const { utc: _utc, ...withoutZone } = search;
  return (
    <div className={classes.bar}>
      <RangePicker
        search={search}
        range={window}
        zone={window.zone}
        onChange={(part) => onChange({ ...others, ...part })}
      />
      <Select
        aria-label="Time zone"
        size="sm"
        w={132}
        allowDeselect={false}
        comboboxProps={UNMOUNT_WHEN_CLOSED}
        value={search.utc ? 'utc' : 'local'}
        data={[
          { value: 'local', label: 'Local time' },
          { value: 'utc', label: 'UTC' },
        ]}
        onChange={(value) => onChange(value === 'utc' ? { ...withoutZone, utc: true } : withoutZone)}
      />
      <Select
        aria-label="Auto-refresh"
        size="sm"
        w={142}
        allowDeselect={false}
        comboboxProps={UNMOUNT_WHEN_CLOSED}
        value={search.refresh ?? 'off'}
        data={[
          { value: 'off', label: 'Refresh off' },
          { value: '10s', label: 'Every 10 s' },
          { value: '1m', label: 'Every minute' },
        ]}
        onChange={(value) =>
          onChange(
            value === 'off' || value === null ? withoutRefresh : { ...withoutRefresh, refresh: value as Refresh },
          )
        }
      />
      <Tooltip label="Refresh" withArrow>
        <ActionIcon variant="default" size={36} aria-label="Refresh" onClick={onReload}>
          <ReloadIcon />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}
