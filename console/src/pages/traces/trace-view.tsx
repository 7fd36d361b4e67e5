import { Button, Switch, TextInput, useComputedColorScheme } from '@mantine/core';
import { useCallback, useMemo, useState } from 'react';
import { assignColors } from '../../parts/costs/colors.ts';
import { formatNumber, plural } from '../../parts/format/format.ts';
import { SearchIcon } from '../../parts/layout/icons.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { PartBoundary } from '../../parts/layout/part-boundary.tsx';
import { formatExactNs, formatNs } from './durations.ts';
import { Minimap } from './minimap.tsx';
import { NodeDetails } from './node-details.tsx';
import { buildTree, createNodeNames, type Trace } from './trace-tree.ts';
import { useWaterfall } from './use-waterfall.ts';
import { clampView, getWholeView, zoomView } from './view-range.ts';
import classes from './waterfall.module.css';
import { Waterfall } from './waterfall.tsx';

interface Props {
  trace: Trace;
  /** The selected span in the URL. */
  span: string | undefined;
  onSelect: (span: string | undefined) => void;
}

/** The waterfall of a trace with its tools and the details of the selected span or log. */
export function TraceView({ trace, span, onSelect }: Props) {
  const isDark = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark';
  const tree = useMemo(() => buildTree(trace), [trace]);
  const { names, find } = useMemo(() => createNodeNames(tree), [tree]);
  const colors = useMemo(() => {
    const services = [...new Set([...trace.services.map(({ name }) => name), ...trace.logs.map((log) => log.service)])];
    const assigned = assignColors(services, isDark);
    return new Map(services.map((name, index) => [name, assigned[index] ?? '']));
  }, [trace, isDark]);
  const whole = useMemo(() => getWholeView(trace.durationNs), [trace]);
  const [view, setView] = useState(whole);
  const selected = span === undefined ? undefined : find(span);
  const select = useCallback(
    (node: number | undefined) => onSelect(node === undefined ? undefined : names[node]),
    [onSelect, names],
  );
  const waterfall = useWaterfall({ tree, selected, onSelect: select });
  const { text, matchCount, matchPlace, showsLogs } = waterfall;
  const selectedSpan = selected === undefined ? undefined : trace.spans[selected];
  const isWhole = view.start === whole.start && view.end === whole.end;
  const zoomToSpan = () => {
    if (!selectedSpan) return;
    const { offsetNs, durationNs } = selectedSpan;
    const margin = durationNs / 20;
    setView(clampView({ start: offsetNs - margin, end: offsetNs + durationNs + margin }, whole));
  };
  return (
    <>
      <Warnings trace={trace} isUnknownSpan={span !== undefined && selected === undefined} />
      <ul className={classes.legend} aria-label="Services">
        {trace.services.map(({ name, spans, errors, selfTimeNs }) => (
          <li key={name}>
            <i style={{ background: colors.get(name) }} />
            <span>
              <b>{name || 'no service name'}</b> {plural(spans, 'span')}
              {errors > 0 && `, ${plural(errors, 'error')}`}, {formatNs(selfTimeNs)} self time
            </span>
          </li>
        ))}
        {trace.criticalNs > 0 && (
          <li>
            <i className={classes.criticalKey} />
            Critical path, {formatExactNs(trace.criticalNs)}
          </li>
        )}
      </ul>
      <Minimap tree={tree} colors={colors} whole={whole} view={view} onZoom={setView} />
      <div className={classes.tools}>
        <TextInput
          ref={waterfall.searchField}
          aria-label="Search in this trace"
          placeholder="Search in this trace ( / )"
          leftSection={<SearchIcon size={16} />}
          value={text}
          onChange={(event) => waterfall.setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') waterfall.goToMatch(event.shiftKey ? -1 : 1);
            if (event.key === 'Escape') event.currentTarget.blur();
          }}
          size="xs"
          w={210}
        />
        <Button.Group>
          <Button size="xs" variant="default" disabled={matchCount === 0} onClick={() => waterfall.goToMatch(-1)}>
            Previous
          </Button>
          <Button size="xs" variant="default" disabled={matchCount === 0} onClick={() => waterfall.goToMatch(1)}>
            Next
          </Button>
        </Button.Group>
        <span className={classes.found} role="status">
          {text.trim() !== '' && formatMatches(matchPlace, matchCount)}
        </span>
        <Switch
          size="xs"
          label={`Logs (${formatNumber(trace.logs.length)})`}
          checked={showsLogs}
          disabled={trace.logs.length === 0}
          onChange={(event) => waterfall.setShowsLogs(event.currentTarget.checked)}
        />
        <Button.Group>
          <Button variant="default" size="xs" onClick={waterfall.expandAll}>
            Expand all
          </Button>
          <Button variant="default" size="xs" onClick={waterfall.collapseAll}>
            Collapse all
          </Button>
        </Button.Group>
        <Button.Group>
          <Button variant="default" size="xs" onClick={() => setView(zoomView(view, 0.5, whole))}>
            Zoom in
          </Button>
          <Button
            variant="default"
            size="xs"
            aria-label="Zoom out"
            disabled={isWhole}
            onClick={() => setView(zoomView(view, 2, whole))}
          >
            Out
          </Button>
          <Button variant="default" size="xs" aria-label="Zoom to span" disabled={!selectedSpan} onClick={zoomToSpan}>
            To span
          </Button>
          <Button variant="default" size="xs" disabled={isWhole} onClick={() => setView(whole)}>
            Whole trace
          </Button>
        </Button.Group>
      </div>
      <div className={classes.layout} data-details={selected !== undefined}>
        <PartBoundary>
          <Waterfall
            tree={tree}
            rows={waterfall.rows}
            collapsed={waterfall.collapsed}
            showsLogs={showsLogs}
            view={view}
            colors={colors}
            active={waterfall.active}
            matches={waterfall.matches}
            scroller={waterfall.scroller}
            onToggle={waterfall.toggle}
            onSelect={waterfall.select}
            onKey={waterfall.onKey}
          />
        </PartBoundary>
        {selected !== undefined && (
          <PartBoundary key={selected}>
            <NodeDetails tree={tree} node={selected} onSelect={waterfall.select} onClose={waterfall.close} />
          </PartBoundary>
        )}
      </div>
    </>
  );
}

/** `place` is 0 if the active row is no match. */
const formatMatches = (place: number, count: number): string =>
  count === 0
    ? 'No matches'
    : place > 0
      ? `${formatNumber(place)} of ${formatNumber(count)}`
      : plural(count, 'match', 'matches');

/** What is missing or cannot be right. */
function Warnings({ trace, isUnknownSpan }: { trace: Trace; isUnknownSpan: boolean }) {
  const { spans, logs, totalSpans, totalLogs, truncated } = trace;
  const orphans = spans.filter(({ isOrphan }) => isOrphan).length;
  const skewed = spans.filter(({ hasClockSkew }) => hasClockSkew).length;
  return (
    <>
      {truncated && (
        <Note tone="warn" title="This trace is too large to be shown completely">
          Shown are the earliest {formatNumber(spans.length)} of {plural(totalSpans, 'span')} and{' '}
          {formatNumber(logs.length)} of {plural(totalLogs, 'log')}. Figures are those of the shown spans.
        </Note>
      )}
      {isUnknownSpan && <Note tone="warn">The span in the address is not among the spans of this trace.</Note>}
      {(orphans > 0 || skewed > 0) && (
        <Note tone="warn">
          {orphans > 0 &&
            `${plural(orphans, 'span names', 'spans name')} a parent that is not in this trace, marked "Orphan". `}
          {skewed > 0 &&
            `${plural(skewed, 'span does', 'spans do')} not fit into the time of the parent in another service, marked "Clock skew". Times are shown as they were sent.`}
        </Note>
      )}
    </>
  );
}
