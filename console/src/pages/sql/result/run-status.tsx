import { Progress } from '@mantine/core';
import { formatNumber, plural } from '../../../parts/format/format.ts';
import { formatBytes } from '../../telemetry/words.ts';
import { formatNs } from '../../traces/durations.ts';
import classes from '../sql.module.css';
import type { Run } from '../use-runs.ts';

export const formatMs = (ms: number): string => (ms === 0 ? '0 ms' : formatNs(ms * 1e6));

/** What a run has read and how long it took. */
export function RunStatus({ run }: { run: Run }) {
  const { status, received } = run;
  if (status !== 'running')
    return (
      <span className={classes.status} role="status" data-testid="sql-status">
        {describeEnd(run)} {received.cut && <span className={classes.cut}>{describeCut(run)}</span>}
      </span>
    );
  const { isWaking, rowsRead, bytesRead, totalRows } = received;
  return (
    <span className={classes.status} data-testid="sql-status">
      {isWaking ? 'The service is waking up.' : `Read ${plural(rowsRead, 'row')}, ${formatBytes(bytesRead)}.`}{' '}
      <span className="ph-number">{(run.elapsedMs / 1000).toFixed(1)} s</span>
      {totalRows > 0 && (
        <Progress
          size="xs"
          mt={4}
          w={220}
          maw="100%"
          aria-label="Rows read"
          value={Math.min(100, (100 * rowsRead) / totalRows)}
        />
      )}
    </span>
  );
}

function describeEnd({ status, received, elapsedMs }: Run): string {
  const { rows, rowsRead, bytesRead, columns } = received;
  const time = formatMs(elapsedMs);
  if (status === 'failed') return `Failed after ${time}.`;
  if (status === 'canceled') return `Canceled after ${time}, with ${plural(rows.length, 'row')} received.`;
  const read = rowsRead === 0 ? '' : ` Read ${plural(rowsRead, 'row')}, ${formatBytes(bytesRead)}.`;
  return columns === undefined ? `Done in ${time}.${read}` : `${plural(rows.length, 'row')} in ${time}.${read}`;
}

/** The rows are the first ones, in the order of the service. */
function describeCut({ received: { cut, rows }, maxRows }: Run): string {
  const why = cut === 'rows' ? `the limit is ${formatNumber(maxRows)}` : 'more would not fit into the page';
  return `Only the first ${plural(rows.length, 'row')} of the result: ${why}. Download it to get all rows.`;
}
