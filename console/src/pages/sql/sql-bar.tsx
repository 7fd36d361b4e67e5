import { Button, Kbd, Menu, SegmentedControl, Select } from '@mantine/core';
import { formatNumber } from '../../parts/format/format.ts';
import { ServicesIcon } from '../../parts/layout/icons.tsx';
import classes from './sql.module.css';
import type { Access } from './use-runs.ts';

export const ROW_LIMITS = [1000, 10_000, 100_000, 1_000_000];
export type Explanation = 'plan' | 'pipeline' | 'estimate';

interface Props {
  isRunning: boolean;
  /** Undefined if the session may only read. */
  access: Access | undefined;
  onAccess: (access: Access) => void;
  onRun: () => void;
  onCancel: () => void;
  onExplain: (explanation: Explanation) => void;
  onSave: () => void;
  onShow: (list: 'saved' | 'history') => void;
}

/** What can be done with the text of the editor. */
export function SqlBar(props: Props) {
  const { isRunning, access, onAccess, onRun, onCancel, onExplain, onSave, onShow } = props;
  return (
    <div className={`${classes.bar} ${classes.editorBar}`}>
      <span className={classes.controls}>
        {isRunning ? (
          <Button size="xs" color="red.8" onClick={onCancel}>
            Cancel
          </Button>
        ) : (
          <Button size="xs" onClick={onRun} title="Ctrl or Cmd with Enter">
            Run
          </Button>
        )}
        <Menu position="bottom-start" shadow="md">
          <Menu.Target>
            <Button size="xs" variant="default" disabled={isRunning}>
              Explain
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => onExplain('plan')}>Plan</Menu.Item>
            <Menu.Item onClick={() => onExplain('pipeline')}>Pipeline</Menu.Item>
            <Menu.Item onClick={() => onExplain('estimate')}>Estimate</Menu.Item>
          </Menu.Dropdown>
        </Menu>
        {access && (
          <SegmentedControl
            size="xs"
            aria-label="Access"
            data={[
              { value: 'read', label: 'Read-only' },
              { value: 'write', label: 'Read and write' },
            ]}
            value={access}
            disabled={isRunning}
            onChange={(value) => onAccess(value as Access)}
          />
        )}
      </span>
      <span className={classes.controls}>
        <Button size="xs" variant="default" onClick={onSave}>
          Save
        </Button>
        <Button size="xs" variant="default" onClick={() => onShow('saved')}>
          Saved queries
        </Button>
        <Button size="xs" variant="default" onClick={() => onShow('history')}>
          History
        </Button>
      </span>
    </div>
  );
}

interface OptionProps {
  database: string;
  databases: readonly string[];
  onDatabase: (database: string) => void;
  maxRows: number;
  onMaxRows: (count: number) => void;
}

/** How statements run: in which database, and how many rows are shown. */
export function RunOptionFields({ database, databases, onDatabase, maxRows, onMaxRows }: OptionProps) {
  return (
    <div className={`${classes.bar} ${classes.options}`}>
      <span className={classes.controls}>
        <Select
          size="xs"
          w={170}
          aria-label="Database"
          leftSection={<ServicesIcon size={14} />}
          searchable
          allowDeselect={false}
          data={[...new Set([database, ...databases])]}
          value={database}
          onChange={(value) => value && onDatabase(value)}
        />
        <Select
          size="xs"
          w={170}
          aria-label="Maximum rows to show"
          allowDeselect={false}
          data={ROW_LIMITS.map((count) => ({ value: String(count), label: `At most ${formatNumber(count)} rows` }))}
          value={String(maxRows)}
          onChange={(value) => value && onMaxRows(Number(value))}
        />
      </span>
      <span className={classes.status}>
        <Kbd size="xs">Ctrl Enter</Kbd> runs all or the selection
      </span>
    </div>
  );
}
