import { SegmentedControl, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Alert, AlertEvaluation } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { StatusText } from '../../parts/alerts/alert-state.tsx';
import { formatAlertValue, formatGroup } from '../../parts/alerts/alert-status.ts';
import { formatNumber, plural } from '../../parts/format/format.ts';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { ListEnd } from '../../parts/tables/list-end.tsx';
import classes from './alerts.module.css';
import { evaluationsQuery } from './queries.ts';

const STEP = 25;
const MAX = 1000;

/** Evaluations, newest first: those that changed the state, or all. */
export function EvaluationTable({ alert }: { alert: Alert }) {
  const api = useApi();
  const { organizationId } = useSession();
  const [shows, setShows] = useState<'changes' | 'all'>('changes');
  const [limit, setLimit] = useState(STEP);
  const { data, error, refetch, isPlaceholderData } = useQuery(
    evaluationsQuery(api, organizationId, alert.id, { limit, before: undefined, onlyChanges: shows === 'changes' }),
  );
  return (
    <Panel
      title="Evaluations"
      flush
      aside={
        <SegmentedControl
          size="xs"
          aria-label="Which evaluations"
          data={[
            { value: 'changes', label: 'Changes of state' },
            { value: 'all', label: 'All' },
          ]}
          value={shows}
          onChange={(value) => {
            setShows(value as 'changes' | 'all');
            setLimit(STEP);
          }}
        />
      }
    >
      {error && !data ? (
        <ErrorNotice error={error} title="Could not load evaluations" retry={() => refetch()} />
      ) : data?.length === 0 ? (
        <Text size="sm" c="dimmed" p="md" pt={0}>
          {shows === 'changes' ? 'The state has not changed in the last 30 days.' : 'No window has been evaluated yet.'}
        </Text>
      ) : (
        <>
          <DataTable
            label="Evaluations"
            rows={data}
            rowKey={({ evaluatedAt, windowEnd }) => `${evaluatedAt} ${windowEnd}`}
            columns={[
              { header: 'End of window', cell: ({ windowEnd }) => <Timestamp at={windowEnd} /> },
              { header: 'State', cell: ({ status }) => <StatusText status={status} /> },
              { header: 'Value', align: 'right', cell: ({ value }) => formatAlertValue(value) },
              { header: 'Details', from: 'sm', cell: (evaluation) => <Details evaluation={evaluation} /> },
              {
                header: 'Query',
                align: 'right',
                from: 'md',
                cell: ({ queryMs }) => <span className="ph-fixed">{formatNumber(Math.round(queryMs))} ms</span>,
              },
            ]}
          />
          {data && data.length === limit && limit < MAX && (
            <div className={classes.listEnd}>
              <ListEnd
                count={plural(data.length, 'evaluation')}
                isLoading={isPlaceholderData}
                onMore={() => setLimit(Math.min(limit * 4, MAX))}
              />
            </div>
          )}
        </>
      )}
    </Panel>
  );
}

const SHOWN_GROUPS = 3;

/** The error, the windows that were left out, and the groups that were not ok. */
function Details({ evaluation: { error, skipped, shown, firing } }: { evaluation: AlertEvaluation }) {
  const groups = shown.filter(({ labels }) => labels.length > 0);
  return (
    <div className={classes.text}>
      {error && <Text size="sm" c="var(--ph-bad)">{`${error.type}: ${error.message}`}</Text>}
      {skipped !== undefined && skipped > 0 && (
        <Text size="sm" c="var(--ph-warn)">
          {plural(skipped, 'window')} before it not evaluated
        </Text>
      )}
      {groups.length > 0 && (
        <Text size="sm">
          {firing > 0 && `${formatNumber(firing)} firing: `}
          {groups
            .slice(0, SHOWN_GROUPS)
            .map(({ labels, value }) => `${formatGroup(labels)} (${formatAlertValue(value)})`)
            .join(', ')}
          {groups.length > SHOWN_GROUPS && ' …'}
        </Text>
      )}
    </div>
  );
}
