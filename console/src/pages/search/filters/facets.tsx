import { ActionIcon, Button, Skeleton, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { formatError } from '../../../api/errors.ts';
import { useApi, useDependencies, useSession } from '../../../app/context.tsx';
import { formatNumber } from '../../../parts/format/format.ts';
import { ChevronIcon } from '../../../parts/layout/icons.tsx';
import { SidePanel } from '../../../parts/layout/side-panel.tsx';
import { columnsQuery } from '../../dashboards/where/suggestions.ts';
import { shortenExpression, toSeries } from '../columns.ts';
import { dropValue, parseChoice, shortenText, toLiteral } from '../conditions.ts';
import { ExcludeIcon, FilterIcon, IncludeIcon } from '../icons.tsx';
import { facetFieldsQuery, facetValuesQuery } from '../queries.ts';
import { quoteText } from '../quote-text.ts';
import type { SearchState } from '../use-search-state.ts';
import classes from './facets.module.css';

interface Props {
  state: SearchState;
  isOpen: boolean;
  onToggle: () => void;
}

const FIRST_VALUES = 10;
const MORE_VALUES = 50;
const MAX_FIELDS = 100;

/** The fields in the range, and their values in the matching rows. Nothing if the server cannot list them. */
export function Facets({ state, isOpen, onToggle }: Props) {
  const { api } = useDependencies();
  const { organizationId } = useSession();
  const [text, setText] = useState('');
  const { source, window, columns } = state;
  const { data: fields, isError } = useQuery(facetFieldsQuery(api, organizationId, source.id, window));
  const types = useColumnTypes(state);
  if (isError || fields === undefined || fields.length === 0) return null;
  const wanted = text.trim().toLowerCase();
  const found = fields.filter(({ field }) => field.toLowerCase().includes(wanted));
  // Those of the table are the most useful.
  const ordered = [
    ...found.filter(({ field }) => columns.includes(field)),
    ...found.filter(({ field }) => !columns.includes(field)),
  ];
  return (
    <SidePanel name="Fields" isOpen={isOpen} onToggle={onToggle}>
      <TextInput
        size="xs"
        aria-label="Find a field"
        placeholder="Find a field"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <ul className={classes.fields}>
        {ordered.slice(0, MAX_FIELDS).map(({ field, column, key }) => (
          <Field
            key={field}
            state={state}
            field={field}
            type={key === '' ? (types.get(column) ?? '') : ''}
            isOpenAtFirst={isShort(field) && columns.includes(field)}
          />
        ))}
      </ul>
      {ordered.length > MAX_FIELDS && (
        <p className={classes.note}>{formatNumber(ordered.length - MAX_FIELDS)} more: find one by its name.</p>
      )}
    </SidePanel>
  );
}

/** A column of numbers is filtered by numbers. */
function useColumnTypes({ source, window }: SearchState): Map<string, string> {
  const api = useApi();
  const { organizationId } = useSession();
  const { data = [] } = useQuery(columnsQuery(api, organizationId, toSeries(source.id), window));
  return new Map(data.map(({ name, type }) => [name, type]));
}

/** The URL has no empty list. */
const keepSome = (filters: string[]): string[] | undefined => (filters.length === 0 ? undefined : filters);

/** Texts and numbers have as many values as rows. */
const isShort = (field: string): boolean => !/^(Body|SpanName|Duration)$/.test(field);

interface FieldProps {
  state: SearchState;
  field: string;
  /** Of a column; empty for an attribute, which is a text. */
  type: string;
}

function Field({ isOpenAtFirst, ...props }: FieldProps & { isOpenAtFirst: boolean }) {
  const { field } = props;
  const [isOpen, setIsOpen] = useState(isOpenAtFirst);
  return (
    <li>
      <button
        type="button"
        className={classes.field}
        aria-expanded={isOpen}
        title={field}
        onClick={() => setIsOpen(!isOpen)}
      >
        <ChevronIcon size={12} />
        <span className={classes.fieldName}>{shortenExpression(field)}</span>
      </button>
      {isOpen && <Values {...props} />}
    </li>
  );
}

function Values({ state, field, type }: FieldProps) {
  const { api } = useDependencies();
  const { organizationId } = useSession();
  const { matching, filters, window, change, chooseValue } = state;
  const [limit, setLimit] = useState(FIRST_VALUES);
  // The other values of a chosen field stay visible.
  const others = {
    ...matching,
    filters: matching.filters.filter(({ condition }) => parseChoice(condition)?.expression !== field),
  };
  const { data, error, isPlaceholderData } = useQuery(
    facetValuesQuery(api, organizationId, others, window, field, limit),
  );
  if (error) return <p className={classes.note}>{formatError(error)}</p>;
  if (data === undefined) return <Skeleton height={60} />;
  if (data?.error) return <p className={classes.note}>{data.error}</p>;
  if (data === null || data.values.length === 0) return <p className={classes.note}>No values in these rows.</p>;
  const choices = filters.flatMap((one) => parseChoice(one) ?? []).filter(({ expression }) => expression === field);
  return (
    <>
      <ul className={classes.values} aria-busy={isPlaceholderData}>
        {data.values.map(({ value, count }) => {
          const literal = toLiteral(value, type) ?? quoteText(value);
          const choice = choices.find(({ literals }) => literals.includes(literal));
          const name = value === '' ? '(empty)' : value;
          const label = `${shortenExpression(field)} ${shortenText(name)}`;
          const toggle = (how: 'include' | 'exclude') =>
            choice && choice.isExcluded === (how === 'exclude')
              ? change({ filters: keepSome(dropValue(filters, field, literal)) })
              : chooseValue(field, literal, how);
          return (
            <li key={literal} className={classes.value} data-choice={choice && (choice.isExcluded ? 'out' : 'in')}>
              <span className={classes.valueName} title={name}>
                {name}
              </span>
              <span className={classes.count}>
                {data.isExact ? '' : '≈ '}
                {formatNumber(count)}
              </span>
              <span className={classes.actions}>
                <ActionIcon
                  size="sm"
                  variant={choice?.isExcluded === false ? 'filled' : 'subtle'}
                  color={choice?.isExcluded === false ? undefined : 'gray'}
                  aria-label={`Include ${label}`}
                  aria-pressed={choice?.isExcluded === false}
                  onClick={() => toggle('include')}
                >
                  <IncludeIcon />
                </ActionIcon>
                <ActionIcon
                  size="sm"
                  variant={choice?.isExcluded ? 'filled' : 'subtle'}
                  color={choice?.isExcluded ? undefined : 'gray'}
                  aria-label={`Exclude ${label}`}
                  aria-pressed={choice?.isExcluded === true}
                  onClick={() => toggle('exclude')}
                >
                  <ExcludeIcon />
                </ActionIcon>
                <ActionIcon
                  size="sm"
                  variant="subtle"
                  color="gray"
                  aria-label={`Only ${label}`}
                  onClick={() => chooseValue(field, literal, 'only')}
                >
                  <FilterIcon />
                </ActionIcon>
              </span>
            </li>
          );
        })}
      </ul>
      {data.others > 0 && (
        <p className={classes.note}>
          {data.isExact ? '' : '≈ '}
          {formatNumber(data.others)} rows with other values.{' '}
          {limit === FIRST_VALUES && (
            <Button size="compact-xs" variant="subtle" onClick={() => setLimit(MORE_VALUES)}>
              More values
            </Button>
          )}
        </p>
      )}
    </>
  );
}
