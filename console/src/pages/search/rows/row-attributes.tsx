import { ActionIcon, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ListSourceColumnsResult } from '../../../api/generated.ts';
import { CopyIconButton } from '../../../parts/forms/copy-button.tsx';
import { formatCell } from '../columns.ts';
import { quoteColumn, quoteEntry, shortenText, toLiteral } from '../conditions.ts';
import { ColumnIcon, ExcludeIcon, FilterIcon } from '../icons.tsx';
import type { SearchState } from '../use-search-state.ts';
import classes from './row-panel.module.css';

interface Props {
  state: SearchState;
  row: Record<string, unknown>;
  /** Undefined until they are known. */
  columns: ListSourceColumnsResult | undefined;
}

interface Attribute {
  expression: string;
  name: string;
  value: unknown;
  /** Undefined if the rows cannot be filtered by it. */
  literal: string | undefined;
}

/** Every column and every entry of a map, with what can be done with it. */
export function RowAttributes({ state, row, columns = [] }: Props) {
  const { columns: shown, chooseValue, toggleColumn } = state;
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const filled = Object.entries(row).filter(([, value]) => !isEmpty(value));
  const empty = Object.keys(row).filter((name) => isEmpty(row[name]));
  const groups = filled.map(([name, value]) => ({ name, attributes: listAttributes(name, value, types.get(name)) }));
  return (
    <div data-testid="attributes">
      {groups.map(({ name, attributes }) => (
        <dl key={name} className={classes.attributes}>
          {attributes.map(({ expression, name: label, value, literal }) => (
            <div key={expression} className={classes.attribute}>
              <dt title={expression}>{label}</dt>
              <dd>
                <span className={classes.value}>{formatCell(value)}</span>
                <span className={classes.actions}>
                  {literal !== undefined && (
                    <>
                      <Action
                        label={`Filter by ${shortenText(label)}`}
                        onClick={() => chooseValue(expression, literal, 'only')}
                      >
                        <FilterIcon />
                      </Action>
                      <Action
                        label={`Exclude ${shortenText(label)}`}
                        onClick={() => chooseValue(expression, literal, 'exclude')}
                      >
                        <ExcludeIcon />
                      </Action>
                    </>
                  )}
                  <Action
                    label={`${shown.includes(expression) ? 'Remove' : 'Add'} column ${shortenText(label)}`}
                    onClick={() => toggleColumn(expression)}
                  >
                    <ColumnIcon />
                  </Action>
                  <CopyIconButton value={formatCell(value)} label={`Copy ${shortenText(label)}`} />
                </span>
              </dd>
            </div>
          ))}
        </dl>
      ))}
      {empty.length > 0 && <p className={classes.note}>Empty: {empty.join(', ')}</p>}
    </div>
  );
}

function Action({ label, onClick, children }: { label: string; onClick: () => void; children: ReactNode }) {
  return (
    <Tooltip label={label} withArrow>
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={label} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isMap(value) ? Object.keys(value).length === 0 : value === '' || value === null || value === undefined;
}

/** A map has one attribute per key. */
function listAttributes(name: string, value: unknown, type = ''): Attribute[] {
  if (!isMap(value)) return [{ expression: quoteColumn(name), name, value, literal: toLiteral(value, type) }];
  return Object.entries(value).map(([key, entry]) => ({
    expression: quoteEntry(name, key),
    name: `${name}.${key}`,
    value: entry,
    literal: toLiteral(entry, ''),
  }));
}
