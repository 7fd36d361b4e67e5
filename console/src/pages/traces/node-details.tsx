import { CloseButton, Title, UnstyledButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatNumber } from '../../parts/format/format.ts';
import { CopyIconButton } from '../../parts/forms/copy-button.tsx';
import { SQL } from './conditions.ts';
import { formatExactNs } from './durations.ts';
import classes from './node-details.module.css';
import { TraceLink } from './trace-link.tsx';
import { findLog, findSpan, type Log, type Span, type TraceTree } from './trace-tree.ts';
import { useColumns } from './use-columns.ts';

interface Props {
  tree: TraceTree;
  node: number;
  onSelect: (node: number) => void;
  onClose: () => void;
}

/** All that is known of a span or a log. */
export function NodeDetails({ tree, node, onSelect, onClose }: Props) {
  const span = findSpan(tree, node);
  const log = findLog(tree, node);
  return (
    <aside className={classes.panel} aria-label="Details">
      <div className={classes.head}>
        <Title order={2} size="h5" className={classes.title}>
          {span ? span.name : 'Log'}
        </Title>
        <CloseButton aria-label="Close details" onClick={onClose} />
      </div>
      {span && <SpanDetails tree={tree} node={node} span={span} onSelect={onSelect} />}
      {log && <LogDetails tree={tree} node={node} log={log} onSelect={onSelect} />}
    </aside>
  );
}

/** More are counted only: they are in the waterfall. */
const MAX_LOGS = 50;

function SpanDetails({ tree, node, span, onSelect }: Omit<Props, 'onClose'> & { span: Span }) {
  const { trace } = tree;
  const columns = useColumns(trace.sourceId);
  const parent = tree.parents[node] ?? -1;
  const logs = (tree.children[node] ?? []).filter((one) => findLog(tree, one));
  return (
    <>
      {span.isOrphan && (
        <p className={classes.warning}>
          Orphan: the parent {span.parentSpanId} is not among the spans of this trace, or the parents form a cycle.
        </p>
      )}
      {span.hasClockSkew && (
        <p className={classes.warning}>
          Clock skew: the span is not within the time of its parent, which ran in another service. The clocks of the two
          probably differ. Times are shown as they were sent.
        </p>
      )}
      <List>
        <Entry name="Service">
          {span.service}{' '}
          <FilterLink tree={tree} condition={SQL.equals(columns.service, span.service)} label={span.service} />
        </Entry>
        <Entry name="Operation">
          {span.name} <FilterLink tree={tree} condition={SQL.equals(columns.name, span.name)} label={span.name} />
        </Entry>
        <Entry name="Kind">{span.kind}</Entry>
        <Entry name="Status">
          <span className={span.isError ? classes.bad : undefined}>
            {span.status}
            {span.statusMessage !== '' && `: ${span.statusMessage}`}
          </span>
        </Entry>
        <Entry name="Duration">{formatExactNs(span.durationNs)}</Entry>
        <Entry name="Self time">{formatExactNs(span.selfTimeNs)}</Entry>
        <Entry name="Critical path">
          {span.isCritical ? `${formatExactNs(span.criticalNs)} of this span itself` : 'Not on it'}
        </Entry>
        <Entry name="Start">{formatNanoTime(span.start)}</Entry>
        <Entry name="After start of trace">{formatExactNs(span.offsetNs)}</Entry>
        <Entry name="Span ID">
          {span.spanId} <CopyIconButton value={span.spanId} label="Copy span ID" />
        </Entry>
        {span.parentSpanId !== '' && (
          <Entry name="Parent">
            {parent === -1 ? (
              span.parentSpanId
            ) : (
              <UnstyledButton className={classes.link} onClick={() => onSelect(parent)}>
                {findSpan(tree, parent)?.name}
              </UnstyledButton>
            )}
          </Entry>
        )}
        <Entry name="Scope">{[span.scope.name, span.scope.version].filter((part) => part !== '').join(' ')}</Entry>
      </List>
      <Attributes title="Attributes" tree={tree} map={columns.attributes} values={span.attributes} />
      {span.events.length > 0 && (
        <Section title={`Events (${formatNumber(span.events.length)})`}>
          {withKeys(span.events).map(({ key, ...event }) => (
            <List key={key} title={`${event.name}, at ${formatExactNs(event.offsetNs)}`}>
              <Values values={event.attributes} />
            </List>
          ))}
        </Section>
      )}
      {span.links.length > 0 && (
        <Section title={`Links (${formatNumber(span.links.length)})`}>
          {withKeys(span.links).map(({ key, traceId, spanId, attributes }) => (
            <List key={key}>
              <Entry name="Trace">
                <TraceLink traceId={traceId} source={trace.sourceId} span={spanId} />
              </Entry>
              <Entry name="Span ID">{spanId}</Entry>
              <Values values={attributes} />
            </List>
          ))}
        </Section>
      )}
      {logs.length > 0 && (
        <Section title={`Logs (${formatNumber(logs.length)})`}>
          <ul className={classes.logs}>
            {logs.slice(0, MAX_LOGS).map((one) => (
              <li key={one}>
                <UnstyledButton className={classes.link} onClick={() => onSelect(one)}>
                  {findLog(tree, one)?.severity} {findLog(tree, one)?.body}
                </UnstyledButton>
              </li>
            ))}
          </ul>
          {logs.length > MAX_LOGS && <p className={classes.quiet}>The others are in the waterfall.</p>}
        </Section>
      )}
      <Attributes title="Resource" tree={tree} map={columns.resource} values={span.resourceAttributes} />
    </>
  );
}

function LogDetails({ tree, node, log, onSelect }: Omit<Props, 'onClose'> & { log: Log }) {
  const parent = tree.parents[node] ?? -1;
  return (
    <>
      <pre className={classes.body}>{log.body}</pre>
      <List>
        <Entry name="Severity">{log.severity}</Entry>
        <Entry name="Service">{log.service}</Entry>
        <Entry name="Time">{formatNanoTime(log.time)}</Entry>
        <Entry name="After start of trace">{formatExactNs(log.offsetNs)}</Entry>
        <Entry name="Span">
          {parent !== -1 ? (
            <UnstyledButton className={classes.link} onClick={() => onSelect(parent)}>
              {findSpan(tree, parent)?.name}
            </UnstyledButton>
          ) : log.spanId === '' ? (
            'None: the log has the trace ID only'
          ) : (
            `${log.spanId}, which is not among the spans of this trace`
          )}
        </Entry>
      </List>
      <Section title="Attributes">
        <List>
          <Values values={log.attributes} />
        </List>
      </Section>
      <Section title="Resource">
        <List>
          <Values values={log.resourceAttributes} />
        </List>
      </Section>
    </>
  );
}

/** Entries of a map, each with a link to the traces that have it. */
function Attributes({
  title,
  tree,
  map,
  values,
}: {
  title: string;
  tree: TraceTree;
  map: string;
  values: Record<string, unknown>;
}) {
  const entries = Object.entries(values);
  return (
    <Section title={title}>
      {entries.length === 0 && <p className={classes.quiet}>None</p>}
      <List>
        {entries.map(([key, value]) => (
          <Entry key={key} name={key}>
            {String(value)}{' '}
            <FilterLink
              tree={tree}
              condition={SQL.hasEntry(map, key, String(value))}
              label={`${key} = ${String(value)}`}
            />
          </Entry>
        ))}
      </List>
    </Section>
  );
}

const Values = ({ values }: { values: Record<string, unknown> }) =>
  Object.entries(values).map(([key, value]) => (
    <Entry key={key} name={key}>
      {String(value)}
    </Entry>
  ));

/** The list shows this long before and after the trace. */
const MARGIN_MS = 30 * 60_000;

function FilterLink({ tree, condition, label }: { tree: TraceTree; condition: string; label: string }) {
  const { sourceId, start, end } = tree.trace;
  const [from, to] = [Date.parse(start) - MARGIN_MS, Date.parse(end) + MARGIN_MS];
  return (
    <Link
      to="/traces"
      search={{ source: sourceId, where: condition, lang: 'sql', from, to }}
      className={classes.filter}
      aria-label={`Filter by ${label}`}
      title="Traces with this value"
    >
      filter
    </Link>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes.section} aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

const List = ({ title, children }: { title?: string; children: ReactNode }) => (
  <>
    {title !== undefined && <p className={classes.entryTitle}>{title}</p>}
    <dl className={classes.list}>{children}</dl>
  </>
);

function Entry({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Events and links have no id, and their order does not change. */
const withKeys = <T extends object>(list: readonly T[]) => list.map((item, index) => ({ ...item, key: index }));

/** Nanoseconds since 1970 as a time in UTC with all digits. */
function formatNanoTime(nanos: string): string {
  const time = BigInt(nanos);
  const seconds = new Date(Number(time / 1_000_000n)).toISOString().slice(0, 19).replace('T', ' ');
  return `${seconds}.${String(time % 1_000_000_000n).padStart(9, '0')} UTC`;
}
