import { Skeleton, Text } from '@mantine/core';
import type { Activity } from '../../api/types.ts';
import { useSession } from '../../app/context.tsx';
import { ActivityLine } from '../../parts/activity/activity-line.tsx';
import { fieldLabel, fieldUnit, listChanges } from '../../parts/activity/activity-text.ts';
import { Timestamp } from '../../parts/format/timestamp.tsx';
import { CopyIconButton } from '../../parts/forms/copy-button.tsx';
import { ChevronIcon } from '../../parts/layout/icons.tsx';
import { TraceLink } from '../traces/trace-link.tsx';
import classes from './activity.module.css';

/** The source with the requests of the server itself. */
const OWN_TRACES = 'pilothouse-traces';

/** One activity. Expanded, it shows the changed fields and the origin of the request. */
export function ActivityEntry({ activity, names }: { activity: Activity; names: ReadonlyMap<string, string> }) {
  const { canSeeDashboards } = useSession();
  const { actorIpAddress, userAgent, requestId, createdAt } = activity;
  const origin = [actorIpAddress && `from ${actorIpAddress}`, userAgent && `using ${userAgent}`]
    .filter(Boolean)
    .join(' ');
  return (
    <li className={classes.entry}>
      <details>
        <summary className={classes.summary}>
          <span className={classes.chevron}>
            <ChevronIcon size={14} />
          </span>
          <span className={classes.what}>
            <ActivityLine activity={activity} names={names} />
          </span>
          <span className={classes.when}>
            <Timestamp at={createdAt} />
          </span>
        </summary>
        <div className={classes.body}>
          <Changes activity={activity} names={names} />
          <Text size="xs" c="dimmed" mt="xs" className={classes.origin}>
            <Timestamp at={createdAt} show="full" /> · {activity.activityType}
            {origin !== '' && ` · ${origin}`}
            {requestId && (
              <>
                {' '}
                · Request ID: {requestId} <CopyIconButton value={requestId} label="Copy request ID" />
                {canSeeDashboards && (
                  <>
                    {' '}
                    ·{' '}
                    <TraceLink traceId={requestId.replaceAll('-', '')} source={OWN_TRACES}>
                      Trace of the request
                    </TraceLink>
                  </>
                )}
              </>
            )}
          </Text>
        </div>
      </details>
    </li>
  );
}

function Changes({ activity, names }: { activity: Activity; names: ReadonlyMap<string, string> }) {
  const changes = listChanges(activity, names);
  // Created resources have no `before`, deleted ones no `after`.
  const hasBefore = activity.before !== undefined;
  const hasAfter = activity.after !== undefined;
  if (changes.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No field changes were recorded.
      </Text>
    );
  return (
    <table className={classes.changes}>
      <thead>
        <tr>
          <th scope="col">Field</th>
          {hasBefore && <th scope="col">Before</th>}
          {hasAfter && <th scope="col">After</th>}
        </tr>
      </thead>
      <tbody>
        {changes.map(({ field, before, after }) => (
          <tr key={field}>
            <th scope="row">
              {fieldLabel(field)}
              {fieldUnit(field) && ` (${fieldUnit(field).trim()})`}
            </th>
            {hasBefore && <td>{before === undefined ? '–' : <del>{before}</del>}</td>}
            {hasAfter && <td>{after === undefined ? '–' : <ins>{after}</ins>}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const LINES = Array.from({ length: 8 }, (_, index) => `line-${index}`);

export function EntrySkeletons() {
  return LINES.map((line) => (
    <li key={line} className={classes.entry}>
      <div className={classes.summary}>
        <Skeleton height={14} width="60%" my={4} />
      </div>
    </li>
  ));
}
