import { MultiSelect, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { formatError } from '../../../api/errors.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { facetValuesQuery } from '../../search/queries.ts';
import type { TimeWindow } from '../queries.ts';
import classes from './filters.module.css';
import type { Variable } from './variable.ts';

interface Props {
  variable: Variable;
  values: readonly string[];
  window: TimeWindow;
  onChange: (values: string[]) => void;
}

/** The most that the server returns for a field. */
const OFFERED_VALUES = 500;
/** Shown at once; typing narrows them down. */
const SHOWN_OPTIONS = 100;
const MAX_CHOSEN = 50;
const NO_SOURCE = { sourceId: '', where: '', whereLanguage: 'lucene' as const };

/** Chooses values of a variable. Those of a field are loaded when the list is opened. */
export function VariableSelect({ variable, values, window, onChange }: Props) {
  const [isOpened, setIsOpened] = useState(false);
  const { options, message } = useOptions(variable, window, isOpened);
  const shared = {
    label: variable.label,
    size: 'sm' as const,
    className: classes.variable,
    searchable: true,
    clearable: true,
    limit: SHOWN_OPTIONS,
    data: [...new Set([...values, ...options])],
    nothingFoundMessage: message,
    // The default size is smaller than a target may be.
    clearButtonProps: { 'aria-label': `Clear ${variable.label}`, 'aria-hidden': false, tabIndex: 0, size: '24px' },
    onDropdownOpen: () => setIsOpened(true),
    comboboxProps: { keepMounted: false },
  };
  return variable.isMulti ? (
    <MultiSelect
      {...shared}
      placeholder={values.length === 0 ? 'All' : ''}
      classNames={{ pillsList: classes.chosen ?? '' }}
      maxValues={MAX_CHOSEN}
      value={[...values]}
      onChange={onChange}
    />
  ) : (
    <Select
      {...shared}
      placeholder="All"
      value={values[0] ?? null}
      onChange={(value) => onChange(value === null ? [] : [value])}
    />
  );
}

function useOptions({ source, expression, options }: Variable, window: TimeWindow, isOpened: boolean) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error } = useQuery({
    ...facetValuesQuery(
      api,
      organizationId,
      { ...(source ?? NO_SOURCE), filters: [] },
      window,
      expression,
      OFFERED_VALUES,
    ),
    enabled: isOpened && source !== undefined,
  });
  if (!source) return { options, message: 'Not in the list' };
  const failure = error ? formatError(error) : data?.error;
  const message =
    failure !== undefined
      ? `Could not load the values: ${failure}`
      : data === undefined
        ? 'Loading…'
        : data !== null && data.others > 0
          ? `Not among the ${OFFERED_VALUES} most frequent values`
          : 'No such value in this time range';
  return { options: data?.values.map(({ value }) => value) ?? [], message };
}
