import { ActionIcon, Button, Skeleton, Text, TextInput, Tooltip } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { formatNumber, plural } from '../../../parts/format/format.ts';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { ChevronIcon, PlusIcon } from '../../../parts/layout/icons.tsx';
import { SidePanel } from '../../../parts/layout/side-panel.tsx';
import { ReloadIcon } from '../../dashboards/icons.tsx';
import { formatBytes } from '../../telemetry/words.ts';
import { quoteName } from '../statements.ts';
import { type Schema, type TableSummary, toTableKey } from './schema.ts';
import classes from './schema-panel.module.css';

interface Props {
  schema: UseQueryResult<Schema>;
  /** The schema is not read from a service that is idle: that would wake it. */
  isIdle: boolean;
  database: string;
  onInsert: (text: string) => void;
  onDetails: (table: TableSummary) => void;
}

const SYSTEM = 'system';
/** More are found by name. */
const MAX_SHOWN = 300;

/** Databases and tables with their size, and the columns of each. */
export function SchemaPanel({ schema, isIdle, database, onInsert, onDetails }: Props) {
  const [text, setText] = useState('');
  const [isOpen, setIsOpen] = useState(() => globalThis.matchMedia('(min-width: 62em)').matches);
  const { data, error, refetch, isFetching } = schema;
  const wanted = text.trim().toLowerCase();
  const databases = Map.groupBy(
    (data?.tables ?? []).filter(({ name }) => name.toLowerCase().includes(wanted)),
    (table) => table.database,
  );
  const names = [...databases.keys()].sort((a, b) => Number(a === SYSTEM) - Number(b === SYSTEM));
  return (
    <SidePanel
      name="Schema"
      isOpen={isOpen}
      onToggle={() => setIsOpen(!isOpen)}
      action={
        <Tooltip label="Read the schema again" withArrow>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label="Read the schema again"
            loading={isFetching}
            onClick={() => refetch()}
          >
            <ReloadIcon />
          </ActionIcon>
        </Tooltip>
      }
    >
      {error && !data ? (
        <ErrorNotice error={error} title="Could not read the schema" retry={() => refetch()} />
      ) : data ? (
        <>
          <TextInput
            size="xs"
            mb={6}
            aria-label="Find a table"
            placeholder="Find a table"
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          {names.length === 0 && <p className={classes.note}>No tables</p>}
          {names.map((name) => (
            <details key={name} open={wanted !== '' || name === database || undefined}>
              <summary className={classes.database}>
                <ChevronIcon size={12} />
                <span className={classes.name}>{name}</span>
                <span className={classes.size}>{formatNumber(databases.get(name)?.length ?? 0)}</span>
              </summary>
              <ul className={classes.list}>
                {databases
                  .get(name)
                  ?.slice(0, MAX_SHOWN)
                  .map((table) => (
                    <TableItem
                      key={table.name}
                      table={table}
                      schema={data}
                      onInsert={onInsert}
                      onDetails={() => onDetails(table)}
                    />
                  ))}
              </ul>
              {(databases.get(name)?.length ?? 0) > MAX_SHOWN && (
                <p className={classes.note}>Find the others by name</p>
              )}
            </details>
          ))}
        </>
      ) : isIdle && !isFetching ? (
        <Text size="sm" c="dimmed" p={4}>
          The service is idle. Its schema is read with the first run, which wakes it.
        </Text>
      ) : (
        <Skeleton height={120} />
      )}
    </SidePanel>
  );
}

interface ItemProps {
  table: TableSummary;
  schema: Schema;
  onInsert: (text: string) => void;
  onDetails: () => void;
}

function TableItem({ table, schema, onInsert, onDetails }: ItemProps) {
  const [isOpen, setIsOpen] = useState(false);
  const { database, name, engine, rows, bytes } = table;
  const size = [rows === undefined ? [] : plural(rows, 'row'), bytes === undefined ? [] : formatBytes(bytes)].flat();
  return (
    <li>
      <div className={classes.table}>
        <button
          type="button"
          className={classes.toggle}
          aria-expanded={isOpen}
          title={[engine, ...size].join(', ')}
          onClick={() => setIsOpen(!isOpen)}
        >
          <ChevronIcon size={12} />
          <span className={classes.name}>{name}</span>
          {rows !== undefined && <span className={classes.size}>{shortNumber.format(rows)}</span>}
        </button>
        <Tooltip label="Insert into the editor" withArrow>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={24}
            aria-label={`Insert ${name}`}
            onClick={() => onInsert(`${quoteName(database)}.${quoteName(name)}`)}
          >
            <PlusIcon size={12} />
          </ActionIcon>
        </Tooltip>
      </div>
      {isOpen && (
        <div className={classes.columns}>
          <p className={classes.note}>
            {[engine, ...size].join(', ')}{' '}
            <Button size="compact-xs" variant="subtle" onClick={onDetails}>
              Details
            </Button>
          </p>
          <ul className={classes.list}>
            {schema.columns.get(toTableKey(database, name))?.map((column) => (
              <li key={column.name}>
                <button type="button" className={classes.column} onClick={() => onInsert(quoteName(column.name))}>
                  <span className={classes.name}>{column.name}</span>
                  <span className={classes.type} title={column.type}>
                    {column.type}
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </div>
      )}
    </li>
  );
}

const shortNumber = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
