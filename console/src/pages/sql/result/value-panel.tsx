import { ActionIcon, Button, Text } from '@mantine/core';
import { formatNumber } from '../../../parts/format/format.ts';
import { CopyIconButton } from '../../../parts/forms/copy-button.tsx';
import { CloseIcon } from '../../dashboards/icons.tsx';
import panel from '../../search/rows/row-panel.module.css';
import classes from '../sql.module.css';
import type { Place } from './result-table.tsx';
import { formatValue, formatWhole, type ResultColumn, type ResultRow, toRecord } from './values.ts';

interface Props {
  columns: readonly ResultColumn[];
  row: ResultRow;
  place: Place;
  onOpen: (place: Place) => void;
  onClose: () => void;
}

/** A whole value, or all values of a row. Beside the table, which stays in use. */
export function ValuePanel({ columns, row, place, onOpen, onClose }: Props) {
  const opened = place.column === undefined ? undefined : columns[place.column];
  const value = opened && row[place.column ?? 0];
  return (
    <aside className={panel.panel} aria-label="Value details">
      <header className={panel.head}>
        <Text fw={600} size="sm" component="h2" m={0} style={{ overflowWrap: 'anywhere' }}>
          {opened ? opened.name : `Row ${formatNumber(place.row + 1)}`}
          {opened && <span className={classes.type}> {opened.type}</span>}
        </Text>
        <span className={panel.tools}>
          {opened && (
            <Button size="compact-sm" variant="default" onClick={() => onOpen({ row: place.row })}>
              Whole row
            </Button>
          )}
          {opened ? (
            <CopyIconButton value={copyText(value)} label="Copy value" />
          ) : (
            <CopyIconButton value={JSON.stringify(toRecord(columns, row), null, 2)} label="Copy row as JSON" />
          )}
          <ActionIcon variant="subtle" color="gray" aria-label="Close details" onClick={onClose}>
            <CloseIcon />
          </ActionIcon>
        </span>
      </header>
      {opened ? (
        <pre className={classes.whole} data-null={value === null}>
          {formatWhole(value)}
        </pre>
      ) : (
        <dl className={panel.attributes} style={{ padding: 12 }}>
          {listValues(columns, row).map(({ position, name, type, value: one }) => (
            <div key={position} className={panel.attribute}>
              <dt>
                {name}
                <br />
                <span className={classes.type}>{type}</span>
              </dt>
              <dd>
                <span className={panel.value} data-null={one === null}>
                  {formatWhole(one)}
                </span>
                <CopyIconButton value={copyText(one)} label={`Copy ${name}`} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </aside>
  );
}

/** Columns may have the same name: the position tells them apart. */
const listValues = (columns: readonly ResultColumn[], row: ResultRow) =>
  columns.map(({ name, type }, position) => ({ position, name, type, value: row[position] }));

/** As it was received. */
const copyText = (value: unknown): string => (value === null ? '' : formatValue(value));
