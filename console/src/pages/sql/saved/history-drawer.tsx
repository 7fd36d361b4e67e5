import { useQuery } from '@tanstack/react-query';
import { useApi, useSession } from '../../../app/context.tsx';
import { plural } from '../../../parts/format/format.ts';
import { Timestamp } from '../../../parts/format/timestamp.tsx';
import { CopyIconButton } from '../../../parts/forms/copy-button.tsx';
import { formatBytes } from '../../telemetry/words.ts';
import { historyQuery } from '../queries.ts';
import { formatMs } from '../result/run-status.tsx';
import classes from '../sql.module.css';
import { ListDrawer } from './list-drawer.tsx';

interface Props {
  serviceId: string;
  onOpen: (sql: string, database: string) => void;
  onClose: () => void;
}

/** The statements that this person has run. */
export function HistoryDrawer({ serviceId, onOpen, onClose }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const list = useQuery(historyQuery(api, organizationId, serviceId));
  return (
    <ListDrawer
      title="History"
      size="lg"
      list={list}
      find="Find a statement"
      getText={({ sql }) => sql}
      empty="You have run no statements."
      noMatch="No statement has this text."
      renderItem={({ sql, database, access, startedAt, durationMs, rowsRead, bytesRead, error }) => (
        <>
          <button type="button" className={classes.entry} onClick={() => onOpen(sql, database)}>
            <code>{sql}</code>
            <div className={classes.facts}>
              <Timestamp at={startedAt} show="ago" />, {formatMs(durationMs)}
              {rowsRead === null ? ', download' : `, read ${plural(rowsRead, 'row')}, ${formatBytes(bytesRead ?? 0)}`}
              {access === 'write' && ', read and write'}
            </div>
            {error && <div className={`${classes.facts} ${classes.failure}`}>{error.slice(0, 300)}</div>}
          </button>
          <CopyIconButton value={sql} label="Copy statement" />
        </>
      )}
      onClose={onClose}
    />
  );
}
