import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { use } from 'react';
import { formatError } from '../../../../api/errors.ts';
import { useApi, useSession } from '../../../../app/context.tsx';
import { CopyIconButton } from '../../../../parts/forms/copy-button.tsx';
import { TileFiltersContext } from '../../filters/tile-filters-context.ts';
import type { Series } from '../../queries.ts';
import { CellText } from './cell-text.tsx';
import classes from './row-details.module.css';
import { type FullRow, rowQuery, type ShownRow } from './row-query.ts';

interface Props {
  series: Series;
  /** The expressions that the tile shows. */
  shown: readonly string[];
  row: ShownRow;
}

/** Every column of a row, with the entries of its maps. Loaded when the row is expanded. */
export function RowDetails({ series, shown, row }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error } = useQuery(rowQuery(api, organizationId, series, shown, row, use(TileFiltersContext)));
  if (error) return <p className={classes.message}>{formatError(error)}</p>;
  if (data === undefined) return <Skeleton height={80} animate={false} />;
  if (data === null) return <p className={classes.message}>The other columns of this row can no longer be read.</p>;
  const empty = data.filter(({ value }) => isEmpty(value));
  return (
    <div className={classes.details} data-testid="row-details">
      <div className={classes.copy}>
        <CopyIconButton value={formatJson(data)} label="Copy row as JSON" />
      </div>
      <dl className={classes.list}>
        {data
          .filter(({ value }) => !isEmpty(value))
          .flatMap(({ name, value }) => listEntries(name, value))
          .map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <CellText name={name} value={value} sourceId={series.sourceId} />
              </dd>
            </div>
          ))}
      </dl>
      {empty.length > 0 && <p className={classes.message}>Empty: {empty.map(({ name }) => name).join(', ')}</p>}
    </div>
  );
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isMap(value) ? Object.keys(value).length === 0 : value === '' || value === null || value === undefined;
}

/** A map has one entry per key, named as in an expression. */
const listEntries = (name: string, value: unknown): { name: string; value: string }[] =>
  isMap(value)
    ? Object.entries(value).map(([key, entry]) => ({ name: `${name}['${key}']`, value: formatEntry(entry) }))
    : [{ name, value: formatEntry(value) }];

const formatEntry = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

const formatJson = (row: FullRow): string =>
  JSON.stringify(Object.fromEntries(row.map(({ name, value }) => [name, value])), null, 2);
