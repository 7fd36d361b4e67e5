import type { Activity } from '../../api/types.ts';
import { describeActivity } from './activity-sentences.ts';

/** An activity as a sentence. */
export function ActivityLine({ activity, names }: { activity: Activity; names: ReadonlyMap<string, string> }) {
  const { action, resource, rest } = describeActivity(activity, names);
  return (
    <>
      <b>{activity.actorDetails}</b> {action}
      {resource && (
        <>
          {' '}
          <b>{resource}</b>
        </>
      )}
      {rest && ` ${rest}`}
    </>
  );
}
