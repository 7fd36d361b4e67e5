import { Button } from '@mantine/core';
import { formatNumber, plural } from '../../parts/format/format.ts';
import classes from './search.module.css';
import type { LiveTail } from './use-live-tail.ts';

interface Props {
  live: LiveTail;
  onResume: () => void;
  onStop: () => void;
}

/** The state of the live tail. The buttons are first: the details of a row cover the end. */
export function LiveBar({ live, onResume, onStop }: Props) {
  const { status, pausedBecause, skipped, notice } = live;
  const resume = () => {
    onResume();
    live.resume();
  };
  return (
    <div className={classes.live} data-state={status === 'open' && pausedBecause ? 'paused' : status}>
      <span className={classes.liveActions}>
        {status === 'ended' ? (
          <Button size="compact-sm" onClick={live.reconnect}>
            Connect again
          </Button>
        ) : pausedBecause === undefined ? (
          <Button size="compact-sm" variant="default" onClick={() => live.pause('you paused it')}>
            Pause
          </Button>
        ) : (
          <Button size="compact-sm" onClick={resume}>
            Resume
          </Button>
        )}
        <Button size="compact-sm" variant="default" onClick={onStop}>
          Stop
        </Button>
      </span>
      <span role="status">{describe(live)}</span>
      {skipped > 0 && <span>{plural(skipped, 'row')} not shown: too many arrived at once.</span>}
      {notice !== '' && <span>{notice}</span>}
    </div>
  );
}

function describe({ status, reason, pausedBecause, waiting, dropped, shown, hasForgotten }: LiveTail): string {
  if (status === 'connecting') return 'Live tail: connecting…';
  if (status === 'ended') return `Live tail ended: ${reason}`;
  if (pausedBecause !== undefined) {
    const more = dropped > 0 ? `, of which the newest ${formatNumber(waiting.length)} are kept` : '';
    return `Paused because ${pausedBecause}. ${plural(waiting.length + dropped, 'new row')} since${more}.`;
  }
  if (hasForgotten) return `Live: the newest ${formatNumber(shown.length)} rows are listed.`;
  return shown.length === 0 ? 'Live: waiting for new rows' : `Live: ${plural(shown.length, 'new row')}`;
}
