import { Anchor, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { keysQuery } from '../../api/queries.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { Timestamp, useNow } from '../../parts/format/timestamp.tsx';
import { EXPIRY_WARNING_DAYS, isKeyExpiringSoon, toKeyState } from '../../parts/key-state.ts';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import classes from './expiring-keys.module.css';

export function ExpiringKeys() {
  const api = useApi();
  const { organizationId } = useSession();
  const now = useNow();
  const { data, error, refetch } = useQuery(keysQuery(api, organizationId));
  const expiring = data
    ?.filter((key) => isKeyExpiringSoon(key, now))
    .toSorted((one, other) => (one.expireAt ?? '').localeCompare(other.expireAt ?? ''));
  return (
    <Panel
      title="Expiring keys"
      aside={
        <Anchor size="sm" renderRoot={(props) => <Link to="/keys" {...props} />}>
          All keys
        </Anchor>
      }
      flush
    >
      {expiring ? (
        expiring.length === 0 ? (
          <EmptyState title="No keys expire soon">
            No enabled key expires in the next {EXPIRY_WARNING_DAYS} days.
          </EmptyState>
        ) : (
          <ul className={classes.list}>
            {expiring.map((key) => (
              <li key={key.id} className={classes.item}>
                <span className={classes.name}>
                  <b>{key.name}</b>{' '}
                  <Text span size="sm" c="dimmed">
                    …{key.keySuffix}
                  </Text>
                </span>
                <Text span size="sm" className={classes.when} data-expired={toKeyState(key, now) === 'expired'}>
                  {toKeyState(key, now) === 'expired' ? 'Expired ' : 'Expires '}
                  {key.expireAt && <Timestamp at={key.expireAt} show="ago" />}
                </Text>
              </li>
            ))}
          </ul>
        )
      ) : error ? (
        <ErrorNotice error={error} title="Could not load keys" retry={() => refetch()} />
      ) : (
        <Stack gap={22} p="md" aria-hidden="true">
          <Skeleton height={14} />
          <Skeleton height={14} />
        </Stack>
      )}
    </Panel>
  );
}
