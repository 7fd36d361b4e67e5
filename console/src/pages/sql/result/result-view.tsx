import { SegmentedControl, Select } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { EmptyState } from '../../../parts/layout/empty-state.tsx';
import { Note } from '../../../parts/layout/note.tsx';
import { PartBoundary } from '../../../parts/layout/part-boundary.tsx';
import { ScrollRegion } from '../../../parts/tables/scroll-region.tsx';
import classes from '../sql.module.css';
import type { Run } from '../use-runs.ts';
import { DownloadMenu } from './download-menu.tsx';
import { ResultChart } from './result-chart.tsx';
import { type Place, ResultTable } from './result-table.tsx';
import { RunStatus } from './run-status.tsx';
import { ValuePanel } from './value-panel.tsx';

/** The results of what was run last. */
export function ResultView({ runs, serviceId }: { runs: readonly Run[]; serviceId: string }) {
  const [chosen, setChosen] = useState<string>();
  const run = runs.find(({ id }) => id === chosen) ?? runs.at(-1);
  if (!run)
    return (
      <section className={classes.box} aria-label="Result">
        <EmptyState title="No result yet">Write a statement and run it. Ctrl or Cmd with Enter runs it too.</EmptyState>
      </section>
    );
  return (
    <section className={classes.box} aria-label="Result">
      <PartBoundary key={run.id}>
        <OneResult
          run={run}
          serviceId={serviceId}
          choice={
            runs.length > 1 && (
              <Select
                size="xs"
                w={240}
                maw="100%"
                aria-label="Statement"
                allowDeselect={false}
                data={runs.map(({ id, statement }, index) => ({
                  value: id,
                  label: `${index + 1}: ${toTitle(statement)}`,
                }))}
                value={run.id}
                onChange={(id) => setChosen(id ?? undefined)}
              />
            )
          }
        />
      </PartBoundary>
    </section>
  );
}

const MAX_TITLE = 60;
const toTitle = (statement: string): string => statement.replaceAll(/\s+/g, ' ').slice(0, MAX_TITLE);

interface ResultProps {
  run: Run;
  serviceId: string;
  /** Chooses one of several results. */
  choice: ReactNode;
}

function OneResult({ run, serviceId, choice }: ResultProps) {
  const [view, setView] = useState('table');
  const { columns, rows, error } = run.received;
  const isTable = columns !== undefined && rows.length > 0 && !isText(run);
  return (
    <>
      <div className={classes.bar}>
        <RunStatus run={run} />
        <span className={classes.controls}>
          {choice}
          {isTable && <SegmentedControl size="xs" aria-label="View" data={VIEWS} value={view} onChange={setView} />}
          {isTable && <DownloadMenu run={run} serviceId={serviceId} />}
        </span>
      </div>
      {error && (
        <div className={classes.error}>
          <Note tone="bad" {...(error.name === undefined ? {} : { title: error.name })}>
            <pre>{error.message}</pre>
          </Note>
        </div>
      )}
      <Content run={run} view={view} />
    </>
  );
}

const VIEWS = [
  { value: 'table', label: 'Table' },
  { value: 'chart', label: 'Chart' },
];

/** A plan or a pipeline is text in lines. */
const isText = ({ explains }: Run): boolean => explains === 'plan' || explains === 'pipeline';

function Content({ run, view }: { run: Run; view: string }) {
  const [opened, setOpened] = useState<Place>();
  const { status, received, explains } = run;
  const { columns, rows, totals } = received;
  if (columns === undefined)
    return status === 'done' && <EmptyState title="The statement has run">It returns no rows.</EmptyState>;
  if (rows.length === 0)
    return (
      status === 'done' && (
        <EmptyState title="The result has no rows">
          Columns: {columns.map(({ name, type }) => `${name} ${type}`).join(', ')}
        </EmptyState>
      )
    );
  if (isText(run))
    return (
      <ScrollRegion className={classes.explain} aria-label={`Explanation: ${explains}`}>
        {rows.map(([line]) => String(line)).join('\n')}
      </ScrollRegion>
    );
  if (view === 'chart' && status !== 'running') return <ResultChart columns={columns} rows={rows} />;
  const openedRow = opened && rows[opened.row];
  return (
    <>
      <ResultTable
        columns={columns}
        rows={rows}
        totals={totals}
        isLoading={status === 'running'}
        opened={opened}
        onOpen={setOpened}
      />
      {opened && openedRow && (
        <ValuePanel
          columns={columns}
          row={openedRow}
          place={opened}
          onOpen={setOpened}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  );
}
