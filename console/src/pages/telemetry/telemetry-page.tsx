import { SegmentedControl, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useSession } from '../../app/context.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { tokensQuery } from '../tokens/tokens-query.ts';
import { type Filter, reportQuery, type Sender } from './queries.ts';
import { ReceivedChart } from './received-chart.tsx';
import { RejectionTable } from './rejection-table.tsx';
import { RulesPanel } from './rules-panel.tsx';
import { DEFAULT_PERIOD, PERIODS, type Period } from './search.ts';
import { SendPanel } from './send-panel.tsx';
import { SenderTable } from './sender-table.tsx';
import { StoredPanels } from './stored-panels.tsx';
import classes from './telemetry.module.css';
import { UsagePanels } from './usage-panels.tsx';
import { formatOrigin, SIGNAL_LABELS } from './words.ts';

/** How to send telemetry, what was received and rejected, and what is stored. */
export function TelemetryPage() {
  const { last = DEFAULT_PERIOD } = useSearch({ from: '/signed-in/telemetry' });
  const navigate = useNavigate({ from: '/telemetry' });
  return (
    <Page
      title="Telemetry"
      subtitle="Logs, traces and metrics that programs send with OpenTelemetry"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Time range"
          data={PERIODS.map((value) => ({ value, label: `Last ${value}` }))}
          value={last}
          onChange={(value) => navigate({ search: { last: value as Period }, replace: true })}
        />
      }
    >
      <SendPanel />
      <Received period={last} />
      <UsagePanels period={last} />
      <RulesPanel />
      <StoredPanels />
    </Page>
  );
}

function Received({ period }: { period: Period }) {
  const api = useApi();
  const { organizationId } = useSession();
  const nameToken = useTokenNames();
  const [selected, setSelected] = useState<Sender>();
  const filter: Filter = selected
    ? { tokenId: selected.tokenId, serviceName: selected.serviceName, signal: selected.signal }
    : {};
  const { data: report, error, refetch } = useQuery(reportQuery(api, organizationId, period, {}));
  const { data: charted } = useQuery(reportQuery(api, organizationId, period, filter));
  if (error && !report)
    return <ErrorNotice error={error} title="Could not load received telemetry" retry={() => refetch()} />;
  return (
    <>
      <ReceivedChart
        report={charted}
        selected={selected && `${SIGNAL_LABELS[selected.signal]} of ${formatOrigin(selected)}`}
        onClear={() => setSelected(undefined)}
      />
      <Panel title="Senders" flush>
        {report?.senders.length === 0 ? (
          <Text size="sm" c="dimmed" className={classes.empty}>
            No service has sent telemetry in this time range.
          </Text>
        ) : (
          <SenderTable
            report={report}
            period={period}
            nameToken={nameToken}
            selected={selected}
            onSelect={setSelected}
          />
        )}
      </Panel>
      <Panel title="Rejected" flush>
        {report?.rejections.length === 0 ? (
          <Text size="sm" c="dimmed" className={classes.empty}>
            Nothing was rejected in this time range.
          </Text>
        ) : (
          <RejectionTable rejections={report?.rejections} nameToken={nameToken} />
        )}
      </Panel>
    </>
  );
}

/** The name of a token, or part of its id if it was deleted or may not be listed. */
function useTokenNames(): (id: string) => string {
  const api = useApi();
  const { organizationId, can } = useSession();
  const { data: tokens } = useQuery({
    ...tokensQuery(api, organizationId),
    enabled: can('dashboardTokenGetList'),
  });
  return (id) => tokens?.find((token) => token.id === id)?.name ?? `token ${id.slice(0, 8)}…`;
}
