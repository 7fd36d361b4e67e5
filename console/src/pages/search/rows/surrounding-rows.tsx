import { Button, Group, SegmentedControl, Select, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { formatError } from '../../../api/errors.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { formatColumn, toFoundRows } from '../columns.ts';
import { contextQuery } from '../queries.ts';
import type { SearchState } from '../use-search-state.ts';
import classes from './row-panel.module.css';
import { formatRowTime } from './row-table.tsx';

type Scope = 'all' | 'service' | 'host' | 'pod';
const SCOPES: Record<Scope, string> = { all: 'All', service: 'Service', host: 'Host', pod: 'Pod' };
const RANGES = [
  { value: '30000', label: '30 seconds' },
  { value: '300000', label: '5 minutes' },
  { value: '900000', label: '15 minutes' },
];
const FIRST_ROWS = 20;
const MAX_ROWS = 500;

/** Equal rows have the same id. */
const listRows = ({ data, ids }: { data: Record<string, unknown>[]; ids: string[] }, columns: readonly string[]) =>
  toFoundRows(data, ids, columns).map((row, index) => ({ ...row, key: `${index} ${row.id}` }));

interface Props {
  state: SearchState;
  id: string;
  row: Record<string, unknown>;
  time: string;
  onOpen: (id: string) => void;
}

/** The rows before and after a row, whatever the query: of everything, or of its service, host or pod. */
export function SurroundingRows({ state: { source, columns, select, window }, id, row, time, onOpen }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const resource = (row[source.resourceAttributesExpression ?? 'ResourceAttributes'] ?? {}) as Record<string, unknown>;
  const values: Record<Scope, unknown> = {
    all: '-',
    service: row[source.serviceNameExpression ?? 'ServiceName'],
    host: resource['host.name'],
    pod: resource['k8s.pod.name'],
  };
  const scopes = (Object.keys(SCOPES) as Scope[]).filter((one) => values[one]);
  const [scope, setScope] = useState<Scope>('all');
  const [rangeMs, setRangeMs] = useState(RANGES[0]?.value ?? '');
  const [rows, setRows] = useState(FIRST_ROWS);
  const { data, error, isPlaceholderData } = useQuery(
    contextQuery(api, organizationId, {
      sourceId: source.id,
      time,
      rangeMs: Number(rangeMs),
      scope,
      ...(scope === 'all' ? {} : { value: String(values[scope]) }),
      select,
      maxBefore: rows,
      maxAfter: rows,
    }),
  );
  const more = rows < MAX_ROWS && (
    <Button size="compact-xs" variant="subtle" onClick={() => setRows(MAX_ROWS)}>
      Show more
    </Button>
  );
  return (
    <>
      <Group gap="xs" mb="xs">
        <SegmentedControl
          size="xs"
          aria-label="Rows of"
          data={scopes.map((value) => ({ value, label: SCOPES[value] }))}
          value={scope}
          onChange={(value) => setScope(value as Scope)}
        />
        <Select
          size="xs"
          w={130}
          aria-label="Time before and after"
          allowDeselect={false}
          data={RANGES}
          value={rangeMs}
          onChange={(value) => value && setRangeMs(value)}
        />
      </Group>
      {error ? (
        <Text size="sm" c="var(--ph-bad)" role="alert">
          {formatError(error)}
        </Text>
      ) : data === undefined ? (
        <Skeleton height={160} />
      ) : (
        <>
          <p className={classes.note}>
            {data.hasMoreAfter ? <>There are newer rows. {more}</> : 'No newer rows in this time range.'}
          </p>
          <ol className={classes.context} aria-label="Surrounding rows, newest first" aria-busy={isPlaceholderData}>
            {listRows(data, columns).map(({ key, ...one }) => (
              <li key={key}>
                <button
                  type="button"
                  className={classes.contextRow}
                  aria-current={one.id === id}
                  onClick={() => onOpen(one.id)}
                >
                  <span className={classes.contextTime}>{formatRowTime(one.time, window.zone)}</span>{' '}
                  {one.cells.map((cell, at) => formatColumn(source, columns[at] ?? '', cell)).join(' ')}
                </button>
              </li>
            ))}
          </ol>
          <p className={classes.note}>
            {data.hasMoreBefore ? <>There are older rows. {more}</> : 'No older rows in this time range.'}
          </p>
        </>
      )}
    </>
  );
}
