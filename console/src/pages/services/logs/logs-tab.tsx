import { Group, SegmentedControl, Skeleton, Text, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { instanceLogGetConstraints } from '../../../api/generated.ts';
import { logQuery } from '../../../api/service-settings.ts';
import type { Service } from '../../../api/types.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { plural } from '../../../parts/format/format.ts';
import { CopyIconButton } from '../../../parts/forms/copy-button.tsx';
import { EmptyState } from '../../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import { ScrollRegion } from '../../../parts/tables/scroll-region.tsx';
import { useService } from '../service-context.tsx';
import { getLevelTone, type LogEntry, toLogEntries } from './log-entries.ts';
import classes from './logs.module.css';
import { SlowQueries } from './slow-queries.tsx';

const COUNTS = [500, 2000, instanceLogGetConstraints.lines.maximum].map(String);

/** The slow queries and the end of the error log. Only embedded services have logs that the server can read. */
export function LogsTab() {
  const service = useService();
  if (service.driver === 'embedded')
    return (
      <>
        <SlowQueries service={service} />
        <ServiceLog service={service} />
      </>
    );
  return (
    <Panel title="Error log">
      <EmptyState title="No log available">{REASONS[service.driver]}</EmptyState>
    </Panel>
  );
}

const REASONS: Record<Exclude<Service['driver'], 'embedded'>, string> = {
  simulated: 'A simulated service has no process, so it has no log.',
  kubernetes: 'The log of this service is in its pods; read it with kubectl logs.',
  webhook: 'The system behind the webhook has the log of this service.',
};

function ServiceLog({ service }: { service: Service }) {
  const api = useApi();
  const { organizationId } = useSession();
  const [count, setCount] = useState(COUNTS[0] ?? '500');
  const [filter, setFilter] = useState('');
  const { data, error, refetch } = useQuery({
    ...logQuery(api, organizationId, service.id, Number(count)),
    placeholderData: keepPreviousData,
  });
  const wanted = filter.trim().toLowerCase();
  const entries =
    data &&
    toLogEntries(data.lines).filter(({ level = '', text }) => `${level} ${text}`.toLowerCase().includes(wanted));
  return (
    <Panel
      title="Error log"
      flush
      aside={data && data.lines.length > 0 && <CopyIconButton value={data.lines.join('\n')} label="Copy log" />}
    >
      <Group gap="sm" className={classes.bar}>
        <TextInput
          size="xs"
          aria-label="Filter entries"
          placeholder="Filter entries"
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
        <SegmentedControl size="xs" aria-label="Number of lines" data={COUNTS} value={count} onChange={setCount} />
        <Text size="xs" c="dimmed">
          {entries && formatCount(entries.length, data.hasEarlier, wanted !== '')}
        </Text>
      </Group>
      {entries && entries.length > 0 ? (
        <LogEntries entries={entries} />
      ) : data ? (
        <EmptyState title={wanted === '' ? 'No errors logged' : 'No matching entries'}>
          {data.reason ?? (wanted === '' && 'Errors of the ClickHouse process of this service appear here.')}
        </EmptyState>
      ) : error ? (
        <div className={classes.bar}>
          <ErrorNotice error={error} title="Could not load the log" retry={() => refetch()} />
        </div>
      ) : (
        <Skeleton height={14} m="md" w="auto" />
      )}
    </Panel>
  );
}

/** Newest first. Every entry is text: nothing in it is interpreted. */
function LogEntries({ entries }: { entries: readonly LogEntry[] }) {
  const newest = entries.map((entry, index) => ({ ...entry, key: `${index} ${entry.time}` })).toReversed();
  return (
    <ScrollRegion className={classes.log} aria-label="Entries of the error log">
      <ol className={classes.entries} data-testid="service-log">
        {newest.map(({ key, time, level, text, more }) => (
          <li key={key} className={classes.entry} data-tone={getLevelTone(level)}>
            {time && <span className={classes.time}>{time}</span>}
            {level && <span className={classes.level}>{level}</span>}
            <div className={classes.text}>
              {text}
              {more.length > 0 && (
                <details>
                  <summary>{plural(more.length, 'more line')}</summary>
                  {more.join('\n')}
                </details>
              )}
            </div>
          </li>
        ))}
      </ol>
    </ScrollRegion>
  );
}

function formatCount(count: number, hasEarlier: boolean, isFiltered: boolean): string {
  const entries = plural(count, 'entry', 'entries');
  if (isFiltered) return `${entries} found`;
  return hasEarlier ? `The last ${entries}; the log has earlier ones` : entries;
}
