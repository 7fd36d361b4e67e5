import { type CSSProperties, memo } from 'react';
import { plural } from '../../parts/format/format.ts';
import { ChevronIcon } from '../../parts/layout/icons.tsx';
import { formatExactNs, formatNs } from './durations.ts';
import { findLog, findSpan, type Log, type Span, type TraceTree } from './trace-tree.ts';
import { getPlace, mergeParts, type ViewRange } from './view-range.ts';
import classes from './waterfall.module.css';

/** Fixed, so that the place of each row is known. */
export const ROW_PX = 28;
/** Deeper rows have the indentation of this depth. */
const MAX_INDENT = 24;

interface Props {
  id: string;
  tree: TraceTree;
  node: number;
  /** The place among the rows. */
  index: number;
  view: ViewRange;
  color: string;
  /** Undefined if nothing is below it. */
  isOpen: boolean | undefined;
  isActive: boolean;
  isMatch: boolean;
}

/** One span or log. The waterfall handles clicks and keys. */
export const WaterfallRow = memo(function WaterfallRow(props: Props) {
  const { id, tree, node, index, view, color, isOpen, isActive, isMatch } = props;
  const span = findSpan(tree, node);
  const log = findLog(tree, node);
  const depth = tree.depths[node] ?? 0;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus and names the active row
    <div
      id={id}
      role="treeitem"
      className={classes.row}
      style={{ top: index * ROW_PX, '--depth': Math.min(depth, MAX_INDENT), '--color': color } as CSSProperties}
      aria-level={depth + 1}
      aria-expanded={isOpen}
      aria-selected={isActive}
      data-node={node}
      data-match={isMatch || undefined}
    >
      <span className={classes.name}>
        <span className={classes.toggle} data-toggle={isOpen === undefined ? undefined : true} data-open={isOpen}>
          {isOpen !== undefined && <ChevronIcon size={12} />}
        </span>
        {span && <SpanName tree={tree} node={node} span={span} isCollapsed={isOpen === false} />}
        {log && <LogName log={log} isLoose={depth === 0} />}
      </span>
      <span className={classes.timeline}>
        {span && <SpanBar span={span} view={view} />}
        {log && <LogMark log={log} view={view} />}
      </span>
    </div>
  );
});

function SpanName({
  tree,
  node,
  span,
  isCollapsed,
}: Pick<Props, 'tree' | 'node'> & { span: Span; isCollapsed: boolean }) {
  const below = tree.spansBelow[node] ?? 0;
  const errors = tree.errorsBelow[node] ?? 0;
  return (
    <>
      <i className={classes.swatch} aria-hidden="true" />
      <span className={classes.label} title={`${span.service}: ${span.name}`}>
        <b>{span.service || 'no service name'}</b> {span.name}
      </span>
      {isCollapsed && below > 0 && (
        <span
          className={classes.tag}
          title={`${plural(below, 'span')} below${errors > 0 ? `, ${plural(errors, 'error')}` : ''}`}
        >
          +{below}
        </span>
      )}
      {(span.isError || (isCollapsed && errors > 0)) && (
        <span className={classes.bad}>{span.isError ? 'Error' : plural(errors, 'error')}</span>
      )}
      {span.isOrphan && <span className={classes.warn}>Orphan</span>}
      {span.hasClockSkew && <span className={classes.warn}>Clock skew</span>}
    </>
  );
}

function SpanBar({ span, view }: { span: Span; view: ViewRange }) {
  const { offsetNs, durationNs, criticalSegments, events, isError } = span;
  const [from, to] = [getPlace(offsetNs, view), getPlace(offsetNs + durationNs, view)];
  const duration = formatNs(durationNs);
  const title = `${formatExactNs(durationNs)}, starts at ${formatExactNs(offsetNs)}`;
  if (to < 0 || from > 1)
    return (
      <span className={classes.time} style={from > 1 ? { right: 0 } : { left: 0 }} title={title}>
        {from > 1 ? `${duration} →` : `← ${duration}`}
      </span>
    );
  const [left, right] = [Math.max(0, from), Math.min(1, to)];
  const marks = mergeParts(
    events.map((event) => ({ startNs: event.offsetNs, endNs: event.offsetNs })),
    view,
  );
  return (
    <>
      <span
        className={classes.bar}
        style={{ left: `min(${toPercent(left)}, 100% - 2px)`, width: toPercent(right - left) }}
        data-error={isError || undefined}
        title={title}
      />
      {mergeParts(criticalSegments, view).map(([start, end]) => (
        <span
          key={start}
          className={classes.critical}
          style={{ left: toPercent(start), width: toPercent(end - start) }}
        />
      ))}
      {marks.map(([at]) => (
        <span key={at} className={classes.event} style={{ left: toPercent(at) }} />
      ))}
      <span className={classes.time} style={placeLabel(left, right)}>
        <span>{duration}</span>
      </span>
    </>
  );
}

/** The width of the longest duration. */
const LABEL_PX = 58;

/** After a mark or bar, or before it if it is near the end. On a small screen it may cover a part of the bar. */
const placeLabel = (left: number, right: number, gapPx = 4): CSSProperties =>
  right > 0.86 && left > 0.5
    ? { right: `min(${toPercent(1 - left)}, 100% - ${LABEL_PX}px)`, paddingRight: gapPx }
    : { left: `min(${toPercent(right)}, 100% - ${LABEL_PX}px)`, paddingLeft: gapPx };

function LogName({ log, isLoose }: { log: Log; isLoose: boolean }) {
  const severity = log.severity || 'LOG';
  return (
    <span className={classes.log} title={log.body}>
      <span className={/^(error|fatal|critical)/i.test(severity) ? classes.bad : classes.tag}>{severity}</span>
      {isLoose && <span className={classes.warn}>{log.spanId === '' ? 'No span' : 'Span unknown'}</span>}
      <span className={classes.label}>{log.body}</span>
    </span>
  );
}

function LogMark({ log, view }: { log: Log; view: ViewRange }) {
  const at = getPlace(log.offsetNs, view);
  const time = formatNs(log.offsetNs);
  if (at < 0 || at > 1)
    return (
      <span className={classes.time} style={at > 1 ? { right: 0 } : { left: 0 }}>
        {at > 1 ? `${time} →` : `← ${time}`}
      </span>
    );
  return (
    <>
      <span className={classes.logMark} style={{ left: toPercent(at) }} title={formatExactNs(log.offsetNs)} />
      <span className={classes.time} style={placeLabel(at, at, 8)}>
        <span>{time}</span>
      </span>
    </>
  );
}

const toPercent = (part: number): string => `${(part * 100).toFixed(4)}%`;
