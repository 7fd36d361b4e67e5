import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import type { Service } from '../../api/types.ts';
import { useApi, useDependencies, useSession } from '../../app/context.tsx';
import { getState } from '../../parts/services/service-status.ts';
import { completeNames, completeSchema } from './editor/completion.ts';
import { Editor, type EditorHandle } from './editor/editor.tsx';
import { findErrorOffset } from './editor/error-position.ts';
import { ParameterFields } from './editor/parameter-fields.tsx';
import { historyQuery } from './queries.ts';
import { ResultView } from './result/result-view.tsx';
import { HistoryDrawer } from './saved/history-drawer.tsx';
import { SaveQueryDialog } from './saved/save-query-dialog.tsx';
import { SavedDrawer } from './saved/saved-drawer.tsx';
import { namesQuery, schemaQuery, type TableSummary } from './schema/schema.ts';
import { SchemaPanel } from './schema/schema-panel.tsx';
import { TableDrawer } from './schema/table-drawer.tsx';
import classes from './sql.module.css';
import { type Explanation, ROW_LIMITS, RunOptionFields, SqlBar } from './sql-bar.tsx';
import { type Command, listParameters } from './statements.ts';
import { type Access, useRuns } from './use-runs.ts';

const EXPLAIN: Record<Explanation, string> = {
  plan: 'EXPLAIN PLAN indexes = 1 ',
  pipeline: 'EXPLAIN PIPELINE ',
  estimate: 'EXPLAIN ESTIMATE ',
};
const DEFAULT_DATABASE = 'default';
const DEFAULT_LIMIT = ROW_LIMITS[1] ?? 10_000;

/** The editor, the results and the schema of a service. */
export function SqlView({ service }: { service: Service }) {
  const api = useApi();
  const { base, sessions } = useDependencies();
  const { organizationId, credential, can } = useSession();
  const queries = useQueryClient();
  const editor = useRef<EditorHandle>(null);
  // Of this person: another may sign in in the same browser tab.
  const storageKey = `pilothouse-sql-${credential.id}-${service.id}`;
  const [text, setText] = useState(() => sessionStorage.getItem(storageKey) ?? '');
  const [initialText] = useState(text);
  const [access, setAccess] = useState<Access>('read');
  const [database, setDatabase] = useState(DEFAULT_DATABASE);
  const [maxRows, setMaxRows] = useState(DEFAULT_LIMIT);
  const [values, setValues] = useState<Record<string, string>>({});
  const [isAwake, setIsAwake] = useState(getState(service) !== 'idle');
  const [dialog, setDialog] = useState<'save' | 'saved' | 'history'>();
  const [table, setTable] = useState<TableSummary>();

  const reader = useMemo(
    () => ({ base, sessions, organizationId, serviceId: service.id }),
    [base, sessions, organizationId, service.id],
  );
  const schema = useQuery({ ...schemaQuery(reader), enabled: isAwake });
  const names = useQuery({ ...namesQuery(reader), enabled: isAwake && schema.data !== undefined });
  const sources = useMemo(
    () => [completeSchema(schema.data, database), completeNames(schema.data, names.data, database)] as const,
    [schema.data, names.data, database],
  );
  const parameters = useMemo(() => listParameters(text), [text]);
  const draft = {
    sql: text,
    database,
    parameters: Object.fromEntries(parameters.map(({ name }) => [name, values[name] ?? ''])),
  };

  const runs = useRuns(service.id, (run) => {
    if (run.status === 'done') setIsAwake(true);
    const { error } = run.received;
    if (error) editor.current?.markError(findErrorOffset(run, error), error.message);
    else if (run.access === 'write') void queries.invalidateQueries({ queryKey: schemaQuery(reader).queryKey });
    void queries.invalidateQueries({ queryKey: historyQuery(api, organizationId, service.id).queryKey });
  });
  const start = (commands: readonly Command[]) => {
    editor.current?.markError(undefined, '');
    if (commands.length > 0 && !runs.isRunning)
      runs.start(commands, { access, database, parameters: draft.parameters, maxRows });
  };
  const run = (scope: 'all' | 'statement') =>
    start(
      (editor.current?.listStatements(scope) ?? []).map(({ text: sql, from }) => ({
        sql,
        statement: sql,
        offset: from,
      })),
    );
  const explain = (explains: Explanation) => {
    const [statement] = editor.current?.listStatements('statement') ?? [];
    if (!statement) return;
    const prefix = EXPLAIN[explains];
    const offset = statement.from - prefix.length;
    start([{ sql: prefix + statement.text, statement: statement.text, offset, explains }]);
  };
  const change = (changed: string) => {
    setText(changed);
    sessionStorage.setItem(storageKey, changed);
  };
  const open = (sql: string, from: string) => {
    editor.current?.replace(sql);
    setDatabase(from || DEFAULT_DATABASE);
    setDialog(undefined);
  };
  return (
    <div className={classes.layout}>
      <SchemaPanel
        schema={schema}
        isIdle={!isAwake}
        database={database}
        onInsert={(name) => editor.current?.insert(name)}
        onDetails={setTable}
      />
      <div className={classes.main}>
        <section className={classes.box} aria-label="Editor">
          <SqlBar
            isRunning={runs.isRunning}
            access={can('sqlWrite') ? access : undefined}
            onAccess={setAccess}
            onRun={() => run('all')}
            onCancel={runs.cancel}
            onExplain={explain}
            onSave={() => setDialog('save')}
            onShow={setDialog}
          />
          <Editor handle={editor} initialText={initialText} sources={sources} onChange={change} onRun={run} />
          {parameters.length > 0 && (
            <ParameterFields parameters={parameters} values={values} onChange={setValues} onRun={() => run('all')} />
          )}
          <RunOptionFields
            database={database}
            databases={schema.data?.tables.map((one) => one.database) ?? []}
            onDatabase={setDatabase}
            maxRows={maxRows}
            onMaxRows={setMaxRows}
          />
        </section>
        <ResultView runs={runs.runs} serviceId={service.id} />
      </div>
      {table && <TableDrawer reader={reader} table={table} onClose={() => setTable(undefined)} />}
      {dialog === 'save' && (
        <SaveQueryDialog serviceId={service.id} draft={draft} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'history' && (
        <HistoryDrawer serviceId={service.id} onOpen={open} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'saved' && (
        <SavedDrawer
          serviceId={service.id}
          draft={draft}
          onOpen={(saved) => {
            open(saved.sql, saved.database);
            setValues(
              Object.fromEntries(Object.entries(saved.parameters).map(([name, value]) => [name, String(value)])),
            );
          }}
          onClose={() => setDialog(undefined)}
        />
      )}
    </div>
  );
}
