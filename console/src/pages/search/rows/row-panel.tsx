import { ActionIcon, Button, Skeleton, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi, useSession } from '../../../app/context.tsx';
import { CopyIconButton } from '../../../parts/forms/copy-button.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { CloseIcon } from '../../dashboards/icons.tsx';
import { columnsQuery, type Source } from '../../dashboards/where/suggestions.ts';
import { findTraceSources, isTraceId } from '../../traces/trace-link.tsx';
import { toSeries } from '../columns.ts';
import { rowQuery } from '../queries.ts';
import type { SearchState } from '../use-search-state.ts';
import { RowAttributes } from './row-attributes.tsx';
import classes from './row-panel.module.css';
import { formatRowTime } from './row-table.tsx';
import { SurroundingRows } from './surrounding-rows.tsx';

interface Props {
  state: SearchState;
  sources: readonly Source[];
  id: string;
  onOpen: (id: string) => void;
  onClose: () => void;
}

/** Every column of a row, and the rows around it. Beside the list, which stays in use. */
export function RowPanel({ state, sources, id, onOpen, onClose }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const { source, window } = state;
  const { data: row, error, refetch } = useQuery(rowQuery(api, organizationId, source.id, id));
  const { data: columns } = useQuery(columnsQuery(api, organizationId, toSeries(source.id), window));
  const time = row && String(row[source.timestampValueExpression] ?? '');
  const traceId = row && String(row[source.traceIdExpression ?? 'TraceId'] ?? '');
  const body = row && String(row[source.bodyExpression ?? 'Body'] ?? '');
  return (
    <aside className={classes.panel} aria-label="Row details">
      <header className={classes.head}>
        <Text fw={600} size="sm" component="h2" m={0}>
          {time ? <time dateTime={time}>{formatRowTime(time, window.zone)}</time> : 'Row'}
        </Text>
        <span className={classes.tools}>
          {isTraceId(traceId) && (
            <Button
              size="compact-sm"
              variant="default"
              renderRoot={(props) => (
                <Link
                  to="/traces/$traceId"
                  params={{ traceId: traceId.toLowerCase() }}
                  search={findTraceSources(sources, source.id)}
                  {...props}
                />
              )}
            >
              Open trace
            </Button>
          )}
          {row && <CopyIconButton value={JSON.stringify(row, null, 2)} label="Copy row as JSON" />}
          <ActionIcon variant="subtle" color="gray" aria-label="Close details" onClick={onClose}>
            <CloseIcon />
          </ActionIcon>
        </span>
      </header>
      {error && !row ? (
        <ErrorNotice error={error} title="Could not load the row" retry={() => refetch()} />
      ) : row === undefined ? (
        <Skeleton height={200} m="md" />
      ) : row === null ? (
        <Text p="md" c="dimmed" size="sm">
          This row no longer exists. Its retention may have ended, or it is in another source.
        </Text>
      ) : (
        <>
          {body && <pre className={classes.body}>{body}</pre>}
          <Tabs defaultValue="attributes" keepMounted={false}>
            <Tabs.List px="sm">
              <Tabs.Tab value="attributes">Attributes</Tabs.Tab>
              <Tabs.Tab value="context">Surrounding rows</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="attributes" p="sm">
              <RowAttributes state={state} row={row} columns={columns} />
            </Tabs.Panel>
            <Tabs.Panel value="context" p="sm">
              <SurroundingRows state={state} id={id} row={row} time={time ?? ''} onOpen={onOpen} />
            </Tabs.Panel>
          </Tabs>
        </>
      )}
    </aside>
  );
}
