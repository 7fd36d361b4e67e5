import { Text } from '@mantine/core';
import type { Activity } from '../api/types.ts';
import classes from './activity-list.module.css';
import { fieldLabel, fieldUnit, formatAction, formatResourceName, listChanges } from './activity-text.ts';
import { Timestamp } from './timestamp.tsx';

const MAX_CHANGES = 4;

/** Activities, newest first, with the first few changed fields. */
export function ActivityList({
  activities,
  names,
}: {
  activities: readonly Activity[];
  names: ReadonlyMap<string, string>;
}) {
  return (
    <ul className={classes.list}>
      {activities.map((activity) => (
        <li key={activity.id} className={classes.item}>
          <div className={classes.what}>
            <Text size="sm" component="p" className={classes.line}>
              <b>{activity.actorDetails}</b> {formatAction(activity)} <b>{formatResourceName(activity, names)}</b>
            </Text>
            {activity.before && activity.after && <ShortChanges activity={activity} />}
          </div>
          <Text size="xs" c="dimmed" component="span" className={classes.when}>
            <Timestamp at={activity.createdAt} show="ago" />
          </Text>
        </li>
      ))}
    </ul>
  );
}

function ShortChanges({ activity }: { activity: Activity }) {
  const changes = listChanges(activity).slice(0, MAX_CHANGES);
  return (
    <Text size="xs" c="dimmed" component="p" className={classes.line}>
      {changes
        .map(({ field, before, after }) => `${fieldLabel(field)} ${before ?? '–'} → ${after ?? '–'}${fieldUnit(field)}`)
        .join(' · ')}
    </Text>
  );
}
