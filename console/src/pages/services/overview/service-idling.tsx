import { Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { idleStatusQuery } from '../../../api/queries.ts';
import type { IdleStatus, Service } from '../../../api/types.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { formatIdle, plural } from '../../../parts/format/format.ts';
import { Timestamp } from '../../../parts/format/timestamp.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { Fact, Facts } from '../../../parts/layout/facts.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import { getPollMs } from '../../../parts/services/service-status.ts';
import classes from '../services.module.css';

/** Why the service is not idle, when it idles at the earliest and what woke it last. */
export function ServiceIdling({ service }: { service: Service }) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data, error, refetch } = useQuery({
    // A change of the state is shown at once.
    ...idleStatusQuery(api, organizationId, service.id, service.state),
    refetchInterval: getPollMs([service]),
  });
  return (
    <Panel title="Idling">
      {data ? (
        <IdleFacts status={data} />
      ) : error ? (
        <ErrorNotice error={error} title="Could not load the idle status" retry={() => refetch()} />
      ) : (
        <Skeleton height={14} my={4} />
      )}
    </Panel>
  );
}

function IdleFacts({ status }: { status: IdleStatus }) {
  const { state, idleScaling, idleTimeoutMinutes, idleAt, lastQueryAt, runningQueries, ignoredQueries, blockers } =
    status;
  return (
    <Stack gap="md">
      {blockers.length > 0 ? (
        <div>
          <Text size="sm" fw={600}>
            Not idle because:
          </Text>
          <ul className={classes.reasons}>
            {blockers.map(({ type, detail }) => (
              <li key={type}>{detail}</li>
            ))}
          </ul>
        </div>
      ) : (
        <Text size="sm">{SUMMARIES[state] ?? 'Nothing keeps the service from idling.'}</Text>
      )}
      <Facts>
        <Fact label="Setting">{formatIdle(idleScaling, idleTimeoutMinutes)}</Fact>
        <Fact label="Idles at the earliest">{idleAt && <Timestamp at={idleAt} />}</Fact>
        <Fact label="Last query">{lastQueryAt && <Timestamp at={lastQueryAt} />}</Fact>
        <Fact label="Running">{runningQueries ? plural(runningQueries, 'query', 'queries') : undefined}</Fact>
        <Fact label="Not counted">
          {ignoredQueries ? `${plural(ignoredQueries, 'query', 'queries')}, such as health probes` : undefined}
        </Fact>
        <LastWake wake={status.lastWake} />
      </Facts>
    </Stack>
  );
}

const SUMMARIES: Readonly<Record<string, string>> = {
  idle: 'The service is idle. The next query wakes it.',
  stopped: 'The service is stopped. Queries do not wake it.',
};

function LastWake({ wake }: { wake: IdleStatus['lastWake'] }) {
  if (!wake) return null;
  const { at, cause, statement, address, userAgent } = wake;
  return (
    <Fact label="Last woken">
      <Timestamp at={at} /> by {cause === 'query' ? `a query${statement ? ` (${statement})` : ''}` : `a ${cause}`}
      {address && <div>from {address}</div>}
      {userAgent && <div>{userAgent}</div>}
    </Fact>
  );
}
