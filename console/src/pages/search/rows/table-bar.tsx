import { ActionIcon, Autocomplete, Button, Popover, Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useSession } from '../../../app/context.tsx';
import { formatNumber, plural } from '../../../parts/format/format.ts';
import { formatDateTime } from '../../../parts/format/times.ts';
import { PlusIcon } from '../../../parts/layout/icons.tsx';
import { columnsQuery, listSuggestions } from '../../dashboards/where/suggestions.ts';
import { splitExpressions, toSeries } from '../columns.ts';
import classes from '../search.module.css';
import type { SearchState } from '../use-search-state.ts';
import type { LoadedRows } from './use-rows.ts';

interface Props {
  state: SearchState;
  loaded: LoadedRows;
  isLive: boolean;
}

/** What was searched so far, and how the rows are shown. */
export function TableBar({ state, loaded, isLive }: Props) {
  const { search, window, change } = state;
  return (
    <div className={classes.tableBar}>
      <span className={classes.progress} role="status" data-testid="progress">
        {describeProgress(loaded, window.zone)}
      </span>
      <span className={classes.tableActions}>
        <AddColumn state={state} />
        <Switch
          size="sm"
          label="Wrap"
          checked={search.wrap === true}
          onChange={(event) => change({ wrap: event.currentTarget.checked ? true : undefined }, false)}
        />
        <Switch
          size="sm"
          label="Live"
          checked={isLive}
          onChange={(event) =>
            change(event.currentTarget.checked ? { live: true, from: undefined, to: undefined } : { live: undefined })
          }
        />
      </span>
    </div>
  );
}

function describeProgress(loaded: LoadedRows, zone: string): string {
  const { rows, searchedFrom, isComplete, isSearching, isFull, error } = loaded;
  const back = searchedFrom === undefined ? '' : formatDateTime(Date.parse(searchedFrom), zone);
  if (error) return back === '' ? 'The search failed' : `The search failed. Searched back to ${back}`;
  if (searchedFrom === undefined) return 'Searching…';
  if (isComplete) return `${plural(rows.length, 'row')}. Searched the whole range`;
  if (isFull) return `The newest ${formatNumber(rows.length)} rows. Narrow the range to see others`;
  if (isSearching) return `${plural(rows.length, 'row')} so far. Searched back to ${back}, searching…`;
  return `The newest ${plural(rows.length, 'row')}. Searched back to ${back}; scroll for more`;
}

function AddColumn({ state: { source, columns, window, change } }: { state: SearchState }) {
  const api = useApi();
  const { organizationId } = useSession();
  const [isOpen, setIsOpen] = useState(false);
  const [text, setText] = useState('');
  const { data } = useQuery({ ...columnsQuery(api, organizationId, toSeries(source.id), window), enabled: isOpen });
  const names = listSuggestions([], source.id, data).expressions.filter((one) => !columns.includes(one));
  const add = (list: string) => {
    const added = splitExpressions(list).filter((one) => !columns.includes(one));
    if (added.length > 0) change({ columns: [...columns, ...added] });
    setText('');
    setIsOpen(false);
  };
  return (
    <Popover opened={isOpen} onChange={setIsOpen} position="bottom-end" shadow="md" trapFocus withRoles width={320}>
      <Popover.Target>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<PlusIcon size={14} />}
          onClick={() => setIsOpen(!isOpen)}
        >
          Column
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Add column">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            add(text);
          }}
        >
          <Autocomplete
            label="Column or SQL expression"
            data={names}
            limit={50}
            value={text}
            onChange={setText}
            onOptionSubmit={add}
            comboboxProps={{ withinPortal: false }}
            rightSection={
              <ActionIcon type="submit" variant="subtle" aria-label="Add column" disabled={text.trim() === ''}>
                <PlusIcon size={14} />
              </ActionIcon>
            }
          />
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
