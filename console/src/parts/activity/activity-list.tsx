import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Activity } from '../../api/types.ts';
import { Timestamp } from '../format/timestamp.tsx';
import { PartBoundary } from '../layout/part-boundary.tsx';
import { ActivityLine } from './activity-line.tsx';
import classes from './activity-list.module.css';
import { describeActivity } from './activity-sentences.ts';
import { fieldLabel, fieldUnit, listChanges } from './activity-text.ts';

const MAX_CHANGES = 4;

interface Props {
  activities: readonly Activity[];
  names: ReadonlyMap<string, string>;
  /** A button for an activity, such as Revert. */
  action?: ((activity: Activity) => ReactNode) | undefined;
}

/** Activities, newest first, with the first few changed fields. */
export function ActivityList({ activities, names, action }: Props) {
  return (
    <ul className={classes.list}>
      {activities.map((activity) => (
        <li key={activity.id} className={classes.item}>
          <PartBoundary resetKey={activity}>
            <Item activity={activity} names={names} action={action} />
          </PartBoundary>
        </li>
      ))}
    </ul>
  );
}

function Item({ activity, names, action }: Pick<Props, 'names' | 'action'> & { activity: Activity }) {
  return (
    <>
      <div className={classes.what}>
        <Text size="sm" component="p" className={classes.line}>
          <ActivityLine activity={activity} names={names} />
        </Text>
        {needsChanges(activity, names) && <ShortChanges activity={activity} names={names} />}
      </div>
      <div className={classes.aside}>
        <Text size="xs" c="dimmed" component="span" className={classes.when}>
          <Timestamp at={activity.createdAt} show="ago" />
        </Text>
        {action?.(activity)}
      </div>
    </>
  );
}

/** An update whose sentence does not already list the changes. */
const needsChanges = (activity: Activity, names: ReadonlyMap<string, string>): boolean =>
  activity.before !== undefined && activity.after !== undefined && !describeActivity(activity, names).rest;

function ShortChanges({ activity, names }: { activity: Activity; names: ReadonlyMap<string, string> }) {
  const changes = listChanges(activity, names).slice(0, MAX_CHANGES);
  return (
    <Text size="xs" c="dimmed" component="p" className={classes.line}>
      {changes
        .map(({ field, before, after }) => `${fieldLabel(field)} ${before ?? '–'} → ${after ?? '–'}${fieldUnit(field)}`)
        .join(' · ')}
    </Text>
  );
}
