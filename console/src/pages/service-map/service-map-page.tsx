import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useApi, useSession } from '../../app/context.tsx';
import { formatNumber } from '../../parts/format/format.ts';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { useTimeWindow } from '../dashboards/time-window/use-time-window.ts';
import { ConditionForm, RangeActions } from '../traces/filter-bar.tsx';
import { DEFAULT_SOURCE, serviceMapQuery } from '../traces/queries.ts';
import { SamplingNote } from '../traces/sampling-note.tsx';
import type { TracesSearch } from '../traces/search.ts';
import { useColumns } from '../traces/use-columns.ts';
import { MAX_DRAWN, MapGraph } from './map-graph.tsx';
import { MapTables } from './map-tables.tsx';
import classes from './service-map.module.css';

const route = getRouteApi('/signed-in/service-map');

/** Who calls whom: services, and the databases, queues and addresses that they use. */
export function ServiceMapPage() {
  const api = useApi();
  const { organizationId } = useSession();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { window, reload } = useTimeWindow(search);
  const update = (next: TracesSearch) => void navigate({ search: next, resetScroll: false });
  const { data, error, refetch, isPlaceholderData } = useQuery(serviceMapQuery(api, organizationId, search, window));
  const columns = useColumns(search.source ?? DEFAULT_SOURCE);
  return (
    <div data-wide="true">
      <Page
        title="Service map"
        subtitle="Requests between services, databases and queues"
        actions={<RangeActions search={search} window={window} onChange={update} onReload={reload} />}
      >
        <ConditionForm key={`${search.where} ${search.lang}`} search={search} onChange={update} />
        {error ? (
          <ErrorNotice error={error} title="Could not load the service map" retry={() => refetch()} />
        ) : data?.nodes.length === 0 ? (
          <Panel>
            <EmptyState title="No requests">
              No span in this time range matches. Widen the range, or send spans: see Telemetry.
            </EmptyState>
          </Panel>
        ) : (
          <>
            {data && <SamplingNote sampling={data.sampling} />}
            {data?.truncated && (
              <Note tone="warn">
                There are more nodes or edges: those with the most requests are shown, {formatNumber(data.nodes.length)}{' '}
                nodes and {formatNumber(data.edges.length)} edges.
              </Note>
            )}
            <Panel title="Graph">
              {data ? (
                <div className={classes.frame} aria-busy={isPlaceholderData}>
                  <MapGraph map={data} columns={columns} page={search} />
                </div>
              ) : (
                <Skeleton height={360} animate={false} />
              )}
              <p className={classes.hint}>
                An edge shows its requests, the share of errors, and the duration within which 95% of them ended. Choose
                a node or an edge to see its traces.
                {data &&
                  data.nodes.length > MAX_DRAWN &&
                  ` The graph has the ${MAX_DRAWN} nodes with the most requests of ${formatNumber(data.nodes.length)}; the tables have all.`}
              </p>
            </Panel>
            <MapTables map={data} columns={columns} page={search} />
          </>
        )}
      </Page>
    </div>
  );
}
